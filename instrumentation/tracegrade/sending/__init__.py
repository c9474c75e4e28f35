"""How spans leave: they wait, are cleaned, encoded and sent, and what is lost is counted."""

"""How far agents get with their own first plan."""

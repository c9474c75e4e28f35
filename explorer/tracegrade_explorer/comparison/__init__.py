"""Two runs side by side: what both did, and where they part."""

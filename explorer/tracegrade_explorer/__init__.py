"""Explorer: pages over a lake, in a browser; it only reads."""

"""The metrics, a folder each: its Python and its SQL together."""

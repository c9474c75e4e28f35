"""Sends scores from a lake to the tools in which teams look at traces."""

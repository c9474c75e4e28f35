"""Divergence: where services answer otherwise today than their tapes have it."""

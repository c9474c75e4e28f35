"""Requests become rows and rows become requests, and nothing is lost either way."""

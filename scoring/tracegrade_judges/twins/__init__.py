"""Copies of judged runs with one change, which shows what a judge is taken in by."""

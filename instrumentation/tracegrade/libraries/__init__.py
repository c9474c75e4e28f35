"""Chooses and loads one instrumentor for each library, so that no call is recorded twice."""

"""Undoing: what runs write down before they write, carried out where one was killed."""

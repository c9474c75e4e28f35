"""Kills on purpose, as pages show them: what each left, and what names a way back."""

"""Conversations with models, apart from the API that carries them."""

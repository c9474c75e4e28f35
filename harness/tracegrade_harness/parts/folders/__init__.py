"""Folders: walked, copied, held and removed, whatever an agent leaves in them."""

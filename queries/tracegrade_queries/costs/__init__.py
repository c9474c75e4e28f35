"""What model calls cost."""

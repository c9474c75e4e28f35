"""What keeps a lake true: erasing traces, and proving that nothing was lost."""

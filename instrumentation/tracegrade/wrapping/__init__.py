"""What stands for a wrapped callable, and what a call of it does, for each kind of callable."""

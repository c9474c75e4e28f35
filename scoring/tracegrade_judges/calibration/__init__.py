"""How far a judge can be trusted: labels of people, agreement with them, corrected rates."""

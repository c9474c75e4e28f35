"""The tools that scores are sent to, a module each, behind one interface (`destination.py`)."""

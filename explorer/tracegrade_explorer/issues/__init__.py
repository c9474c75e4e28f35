"""Issues of a snapshot, and the runs that show them."""

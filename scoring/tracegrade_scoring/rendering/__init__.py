"""Words, numbers and formats that reports, timelines and comparisons share."""

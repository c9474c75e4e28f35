"""What reports, timelines and comparisons share: words, numbers, formats."""

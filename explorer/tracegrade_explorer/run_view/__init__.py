"""One run as its page shows it: folds, plans and their changes, evidence of scores."""

"""One run as its page shows it: folds, plans and their changes, what scores are made from."""

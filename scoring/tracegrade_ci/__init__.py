"""Gates a pull request: compares a release with a stored baseline, and comments on the result."""

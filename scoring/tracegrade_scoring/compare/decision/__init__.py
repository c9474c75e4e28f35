"""Whether a release may ship: one rule, one word, and what it takes to know more."""

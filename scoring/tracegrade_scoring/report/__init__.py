"""The report: what a scored lake says about each release of each agent, with the evidence."""

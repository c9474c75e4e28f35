"""Judge files in YAML: the judges, their questions, models and limits."""

"""Judge files: who is asked what, by which model, within which limits; read from YAML."""

"""Values in a form for JSON, read without running any code of the program."""

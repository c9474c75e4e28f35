"""Values as JSON can say them, looked at without running any code of the program that has them."""

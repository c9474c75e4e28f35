"""What a command shows people: how far it is, and texts of others in which nothing acts."""

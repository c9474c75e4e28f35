"""The receiver process: servers, who may send, what a request may take up, the log it goes to."""

"""People's labels: who may give them, the form, the queue, and the process that writes them."""

"""`tracegrade score`: what is new, bucket by bucket, and the commit of its scores."""

"""The buckets of a job on a cluster: Apache Spark calls the work, this process commits."""

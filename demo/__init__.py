"""The demo: real agents run, their spans land as Parquet, and come out as scores and a report."""

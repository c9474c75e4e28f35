"""Tool correctness: selection, parameters, sequence and utilization."""

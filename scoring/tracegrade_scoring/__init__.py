"""Batch jobs that judge what agents did: task files, scores, statistics and reports."""

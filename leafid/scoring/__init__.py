"""Scores runs of the plant task: a file for each way of judging."""

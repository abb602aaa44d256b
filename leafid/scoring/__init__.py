"""Scores runs of the plant task: run files, ground truths, and a file for each way of judging."""

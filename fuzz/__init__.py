"""Fuzzing of everything that reads a file from outside; see docs/robustness.md."""

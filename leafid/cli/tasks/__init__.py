"""Commands of other tasks."""

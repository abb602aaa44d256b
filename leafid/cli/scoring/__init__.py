"""Commands that score runs."""

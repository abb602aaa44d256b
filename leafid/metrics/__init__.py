"""Scores and errors as pure functions on plain data, and the registry that lists them."""

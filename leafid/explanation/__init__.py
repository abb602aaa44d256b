"""Explains answers: the leaf that was found, its traits in words, what speaks for a species, and pictures of it."""

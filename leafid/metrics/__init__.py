"""Means, ranks and errors that several ways of judging share."""

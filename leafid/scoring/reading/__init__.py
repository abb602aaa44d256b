"""Runs and ground truths: what they hold, and how they are read from files of many formats and from objects."""

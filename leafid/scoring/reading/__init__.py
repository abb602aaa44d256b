"""Runs and ground truths, and their readers for files of many formats and objects."""

"""The layouts of collections, and the tables, lists and patterns of their metadata."""

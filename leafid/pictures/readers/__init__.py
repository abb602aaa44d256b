"""The layouts that collections come in, and the tables, lists and patterns that tell more about their pictures."""

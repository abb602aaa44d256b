"""Chooses training pictures, and splits pictures into folds."""

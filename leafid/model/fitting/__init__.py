"""Fits identifiers to training pictures, and adds species to them."""

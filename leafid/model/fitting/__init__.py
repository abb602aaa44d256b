"""Fits identifiers to training pictures, and adds species to them."""

from leafid.model.fitting.identifiers import FittedIdentifier, fit_identifiers, select_trainable

__all__ = ["FittedIdentifier", "fit_identifiers", "select_trainable"]

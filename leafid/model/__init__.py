"""Identifiers and models: training, cross-validation, prediction, and the model file."""

"""Classifiers of vectors: their fusion, calibration, and rejection of the unknown."""

"""Classifiers of vectors, their fusion and calibration, and the rejection of what they do not know."""

"""Linear classifiers, their fusion and calibration, and what is learned from held-out plants."""

"""Classifiers of an expert's vectors: ridge regression, and scikit-learn's."""

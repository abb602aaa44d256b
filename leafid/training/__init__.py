"""From labelled pictures to a model: rows, folds, classifiers, fusion, rejection.

Cross-validation.
"""

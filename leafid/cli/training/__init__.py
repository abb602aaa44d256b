"""Commands that train models and cross-validate recipes."""

"""Studies: they train on parts of a collection, and score the answers to the others."""

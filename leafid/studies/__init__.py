"""Studies: what trains on parts of a collection and scores what it answers to the others."""

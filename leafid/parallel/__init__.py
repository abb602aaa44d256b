"""Maps functions over many items: in worker processes, or on the workers of a cluster."""

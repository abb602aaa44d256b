"""Maps functions over items: in worker processes, or on the workers of a cluster."""

#: Maximum number of worker processes, far above the number of cores that a machine has.
MAX_JOBS = 1024

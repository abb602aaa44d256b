"""What leafid costs, in time and memory: `scripts/benchmark` runs it."""

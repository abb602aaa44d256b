"""Other evaluation tasks, each with its files, its metrics and its command."""

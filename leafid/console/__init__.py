"""What every command shares: its arguments, its streams, and where its output goes."""

"""Pictures and their metadata, whatever layout they come in."""

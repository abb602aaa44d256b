"""What the inside and the edge of a blade measure: texture."""

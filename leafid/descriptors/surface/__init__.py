"""What the inside of a blade measures: colour, texture, veins."""

"""Commands that identify, segment and measure pictures."""

"""Families of texture, of the inside and the edge of a blade."""

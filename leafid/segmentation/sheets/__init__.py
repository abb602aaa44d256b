"""Cuts leaves from sheets, which may lie in a frame: scans and scan-likes."""

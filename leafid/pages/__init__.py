"""HTML pages that are files: report, explanation, field guide."""

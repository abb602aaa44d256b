"""HTML pages: report, explanation, field guide, and those of ``leafid serve`` with its JSON API."""

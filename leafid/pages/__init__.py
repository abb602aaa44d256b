"""HTML pages: report, explanation, field guide, ``leafid serve`` and its JSON API."""

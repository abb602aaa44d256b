"""The page of ``leafid serve``, with its JSON API."""

"""The web page and the JSON API of ``leafid serve``."""

"""Recipes: how pictures of an acquisition type are described and classified."""

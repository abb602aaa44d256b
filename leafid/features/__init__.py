"""From pictures to feature vectors: extraction, augmentation, and the cache that keeps what was computed."""

"""From pictures to feature vectors: extraction, augmentation, and the feature cache."""

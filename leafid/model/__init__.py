"""What answers: identifiers, models, thresholds, plants, sessions, the model file."""

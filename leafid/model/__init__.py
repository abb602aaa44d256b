"""What answers: identifiers, models, thresholds, plants and sessions, and the model file."""

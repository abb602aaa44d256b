"""ImageCLEF 2009 medical annotation: IRMA codes and flat labels."""

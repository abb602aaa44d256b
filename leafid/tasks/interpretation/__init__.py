"""The interpretation metric of Hemery et al.: localised and named objects."""

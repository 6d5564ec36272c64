"""Motion from markers."""

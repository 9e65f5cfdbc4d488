"""Events: what they are, when they happened, how they are ordered, and how they are read."""

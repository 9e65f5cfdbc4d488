"""How fast detection is, beside other ways to the same result, measured in one run."""

"""Ways to write a pattern; each translates to the algebra and prints back."""

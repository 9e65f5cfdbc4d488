"""What is wrong with a pattern that parses, and what is worth knowing of one that is right."""

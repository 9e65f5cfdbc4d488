"""What patterns are made of: immutable expressions and conditions that know where they were written."""

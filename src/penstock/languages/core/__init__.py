"""The core language: its grammar, its parser and its printer."""

"""The engine: programs laid out as tables, events as columns, and one compiled kernel that steps all runs."""

"""Detection in one process: events in, composites out."""

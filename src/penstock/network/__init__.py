"""Detection in a network: what is known of it, how patterns are divided, and where their detectors run."""

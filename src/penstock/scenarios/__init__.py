"""Applications of the papers, simulated: a folder for each, with its patterns, and detection while they run."""

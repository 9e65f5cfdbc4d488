"""The Active Office: a building that notices who is where, what is detected in it, and a picture of its day."""

"""The papers' experiment: detection in the network against clients that detect for themselves, on real links."""

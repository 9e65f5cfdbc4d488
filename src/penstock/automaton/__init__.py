"""The small program that a pattern is compiled to: options with strengths, domains, what follows, timers."""

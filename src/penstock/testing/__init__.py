"""For tests, ours and yours: the meaning of the language as a program, golden cases, a one-line match."""

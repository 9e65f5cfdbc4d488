"""Automata for people: a pattern's program as a graph, written as text, Graphviz source, SVG or JSON."""

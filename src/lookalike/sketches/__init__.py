"""Sketch schemes: frozen parameter objects that turn shingles into signatures."""

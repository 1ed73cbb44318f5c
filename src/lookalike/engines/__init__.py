"""Engines: where steps run, and which rows meet."""

"""Compiled loops: arrays in, arrays out. No strings, no dataclasses, no exceptions here."""

"""Experiments of "b-Bit Minwise Hashing"."""

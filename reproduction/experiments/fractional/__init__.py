"""Experiments of "f-Fractional Bit Minwise Hashing"."""

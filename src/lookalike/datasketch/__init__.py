"""The classes of the package datasketch (2.0) by the same names: equal signatures, parameters, answers and bytes.

``from lookalike.datasketch import MinHash, MinHashLSH`` in place of ``from datasketch import ...`` changes nothing but the time
that a program takes. An index is held in memory; what it answers are candidates, as there, of which none is verified.
"""

from .families import sha1_hash32, sha1_hash64
from .lsh import MinHashLSH
from .minhash import LeanMinHash, MinHash

__all__ = ["LeanMinHash", "MinHash", "MinHashLSH", "sha1_hash32", "sha1_hash64"]

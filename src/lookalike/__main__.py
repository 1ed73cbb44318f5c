"""``python -m lookalike``."""

from .cli import main

main()

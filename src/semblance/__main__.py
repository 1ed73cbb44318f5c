"""``python -m semblance``."""

from .cli import main

main()

"""SimHash on real documents."""

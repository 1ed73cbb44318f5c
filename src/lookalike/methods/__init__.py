"""Methods: how documents become keys and codes, and how two of them are scored."""

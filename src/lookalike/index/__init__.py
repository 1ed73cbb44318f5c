"""Indexes that last: a folder of immutable segments and a manifest that commits them."""

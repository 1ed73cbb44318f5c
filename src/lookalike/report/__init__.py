"""A page that shows what a job removed, and why. It reads tables of results, and a few texts by their positions."""

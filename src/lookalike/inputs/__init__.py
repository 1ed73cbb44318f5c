"""Documents from inputs: which columns are read, what documents are called, which files may not meet."""

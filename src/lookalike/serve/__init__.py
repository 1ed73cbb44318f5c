"""An index, or the review of a saved job, over HTTP: ``lookalike serve``. It needs the extra ``serve``."""

"""An index, or the review of a saved job, over HTTP: ``semblance serve``. It needs the extra ``serve``."""

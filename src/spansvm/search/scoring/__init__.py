"""What predictions are worth.

``scorers`` finds them, ``responses`` is the classifier that they see, ``label_scores`` are
computed from counts, ``standard_errors`` tells how far scores may be off.  ``corrected`` corrects
the score of the selected candidate for having been selected: from what was ``kept``, ``bootstrap``
repeats the selection on drawn rows, by ``bootstrap_scores`` (``quickest_scores`` chooses);
``intervals`` has its confidence interval.
"""

"""SpanSVC and what is computed from it: analyses, exact leave-one-out, weightings."""

"""Speed of spansvm, always relative to a peer that does the same work in the same run."""

"""Speed of spansvm, always as a ratio to a peer that does the same work in the same run."""

"""What single training rows do: to the values of others, to a score, and to doubts of labels."""

"""What all parts of the application need: files, tasks, words."""

"""The trained part of classify: an encoder that reads a follow-up with its history, and the decision it leads to."""

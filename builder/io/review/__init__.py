"""The review page: a local server that shows items to one person and keeps what they decide."""

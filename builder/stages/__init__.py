"""The river, one verb a module: generator functions from records to records."""

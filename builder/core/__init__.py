"""The vocabulary: records, taxonomy, terms, errors. Standard library only; touches no file."""

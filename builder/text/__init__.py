"""Reading language: cues, entities, subjects, similarity. Pure functions; word lists are data."""

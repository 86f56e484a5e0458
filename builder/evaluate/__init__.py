"""The second trip: a set, a scope design, a rewriter, checks, tables, verdicts."""

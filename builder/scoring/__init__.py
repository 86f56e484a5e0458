"""How a rewriter is judged: checks, strata, decomposition, gate."""

"""Speed and memory, each beside a plain loop in the same run: machines differ, ratios much less."""

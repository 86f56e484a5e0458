"""What a rewriter is shown: windows, segments, live entities."""

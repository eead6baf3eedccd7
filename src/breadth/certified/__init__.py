"""The default method: column generation over any oracle, a swap local search, and a proof."""

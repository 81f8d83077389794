"""Review: what waits for the person's decision, and what a decision does."""

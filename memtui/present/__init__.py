"""Records in words, for the app and the command line: which words, dates and reasons there are, not where they stand."""

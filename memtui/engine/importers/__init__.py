"""One module for each format that conversations can be imported from."""

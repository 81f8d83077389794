"""The retrievers: each finds and scores candidates in its own way (words, vectors, names, neighbours)."""

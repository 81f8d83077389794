"""Finding: the filter language, the retrievers, their fusion, and its explanation."""

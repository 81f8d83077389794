"""Finding: the filter language, the arms, their fusion, and its explanation."""

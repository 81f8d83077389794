"""The filter language: its terms, their SQL, completion while typing."""

"""The namespaces of Memory: ``memory.sessions``, ``memory.entities`` and so on, one class in each file."""

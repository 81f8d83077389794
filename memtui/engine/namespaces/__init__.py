"""What a memory holds beside its everyday verbs: ``memory.sessions``, ``memory.entities`` and so on, a class in a file each."""

"""What a person or an agent does to a memory: record, remember, correct, confirm, forget, restore, tag."""

"""What people and agents do to memories: record, remember, correct, confirm, forget, restore, tag."""

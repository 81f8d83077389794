"""How two statements stand to each other: the same, a contradiction, or beside each other."""

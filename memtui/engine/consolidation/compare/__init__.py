"""How two statements relate to each other: the same, a contradiction, or beside each other."""

"""Commands that agents run by themselves at certain events: to record what is said, and to get memories that fit."""

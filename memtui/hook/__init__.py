"""Commands that agents run by themselves at certain moments, to record what is said and to be told what bears on it."""

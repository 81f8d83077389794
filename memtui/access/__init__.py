"""Who may reach a memory over a port: tokens, the check of a request's headers, limits, counts of what was refused."""

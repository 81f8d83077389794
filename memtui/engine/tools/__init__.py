"""The tools of agents, over one open memory. ``registry`` has the list."""

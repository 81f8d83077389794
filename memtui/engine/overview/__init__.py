"""What is known at a glance: what the app's first screen, ``memtui about`` and an agent's first question are made from."""

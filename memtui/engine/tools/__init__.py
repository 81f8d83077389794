"""What agents may call, over one open memory; ``registry`` has the list."""

"""People, places and projects: what people and agents change about them."""

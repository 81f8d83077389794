"""The server for agents that use the Model Context Protocol: a thin layer over ``engine.tools``."""

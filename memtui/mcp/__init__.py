"""The door for agents that speak the Model Context Protocol: a thin layer over ``engine.tools``."""

"""What needs weights or a network: embedders, entity recognition."""

"""Guards: secrets, and orders to an assistant, found in texts before they are kept or handed out.

Nothing here knows of a memory or a file: text goes in, a finding comes out.
"""

"""What is looked for in every text before it is kept or handed out: secrets, and orders to an assistant.

Nothing here knows of a memory or a file: text goes in, a finding comes out.
"""

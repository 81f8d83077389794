"""What is drawn from conversations: drafts of facts and observations, by rules or by a language model."""

"""Slides for teaching: the marked cells of a section's notebook as one deck, with the text as the speaker's notes."""

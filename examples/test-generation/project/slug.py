"""Text for addresses."""

import re


def slug(text):
    """The text in small letters, with hyphens for everything that is neither letter nor digit."""
    return re.sub(r"[^a-z0-9]+", "-", text.lower()).strip("-")

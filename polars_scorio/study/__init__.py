"""From counts to the tidy frame."""

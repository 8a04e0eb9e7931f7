"""A report as one file: what it says, which pictures it has, and the page."""

"""From states to the tidy frame of a report."""

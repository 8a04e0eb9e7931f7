"""Reports for other programs: trackers, model cards, shared databases."""

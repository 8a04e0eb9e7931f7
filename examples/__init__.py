"""Scripts, pages and studies that show the package at work."""

"""Models: sections, raw volumes, basins, and their reader for figures."""

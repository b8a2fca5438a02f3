"""A survey on one page."""

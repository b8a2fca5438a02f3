"""Key-maps, navigation files, and geometry in trace headers."""

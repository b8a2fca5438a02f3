"""Meshes of hexahedra: read from other programs, checked, described, drawn, written as Exodus II."""

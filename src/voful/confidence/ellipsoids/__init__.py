"""Ellipsoids about ridge estimates."""

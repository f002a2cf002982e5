"""Tidy frames behind every table and figure."""

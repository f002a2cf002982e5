"""Declared experiments: study -> runs -> loop -> results."""

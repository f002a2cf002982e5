"""Logs of decisions: how good another policy would have been, with intervals true at all times."""

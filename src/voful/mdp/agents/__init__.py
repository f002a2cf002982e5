"""Agents for linear mixture MDPs, one file each."""

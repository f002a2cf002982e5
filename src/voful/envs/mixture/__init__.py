"""Linear mixture MDPs and their families."""

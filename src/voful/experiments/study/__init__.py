"""A study as data: policies, problems, and the runs that they mean."""

"""One run: a policy meets an environment, and regret is computed."""

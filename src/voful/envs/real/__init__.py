"""Real data as bandit problems, from tables that installed packages bundle (``voful[data]``)."""

"""Linear bandits: arms, noise, rewards."""

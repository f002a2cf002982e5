"""Algorithm 1's confidence set: peeled tests, and an outer polytope of what they leave."""

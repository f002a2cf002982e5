"""Speed: rounds and episodes per second, next to references in the same process."""

"""What is missing of a study is played, here or on a cluster."""

"""Sets for the weights of a mixture of known laws."""

"""Rules for the training jobs of Acme."""

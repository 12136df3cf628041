"""What teaches."""

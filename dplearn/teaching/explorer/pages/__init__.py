"""The pages; their caches are bounded and hold answers that all readers share."""

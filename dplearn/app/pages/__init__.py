"""The pages, a folder each; their caches are bounded and hold answers that all readers share."""

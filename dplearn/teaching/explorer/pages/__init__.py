"""Pages of the explorer; all sessions share their bounded caches."""

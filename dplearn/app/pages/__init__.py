"""One page per file: a module with TITLE, ORDER and render() is in the menu at the next start."""

"""Code shared by all explorer pages: input fields, URLs, languages, menu, scripts."""

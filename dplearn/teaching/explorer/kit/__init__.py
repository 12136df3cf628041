"""Code shared by all pages: fields, addresses, languages, menu, scripts."""

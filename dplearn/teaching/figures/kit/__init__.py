"""Parts of figures: templates, axes, marks, labels, and numbers as text."""

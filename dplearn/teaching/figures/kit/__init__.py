"""Parts of figures: template, axes, marks, labels, and numbers in words."""

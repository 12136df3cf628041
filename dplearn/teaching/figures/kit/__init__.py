"""What every figure is made of: template, axes, marks, labels, and numbers in words."""

"""Right answers and usual mistakes, one file per lesson, each with a tuple EXERCISES."""

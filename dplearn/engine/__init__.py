"""Privacy profiles and two engines that compose them: contour integral and lattice."""

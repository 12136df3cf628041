"""The privacy profile and the two engines that compose it: contour integral and lattice."""

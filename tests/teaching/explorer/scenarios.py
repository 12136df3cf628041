"""Two published runs that the tests of the page of epsilon against T begin from."""

from dplearn.teaching.explorer.pages.epsilon_vs_steps.confirmation import Scenario

ABADI = Scenario("gaussian", 4.0, "poisson", 0.01, 1e-5, "add_remove", 40_000)
CHUA_RUN = Scenario("gaussian", 0.5, "shuffled", 1e-4, 1e-6, "zero_out", 100_000)

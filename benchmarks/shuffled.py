"""What shuffled epochs cost, from below to above: `python benchmarks/shuffled.py` prints it."""

from dplearn import Gaussian, Shuffled
from dplearn.accountants.pld import PLD

DELTA = 1e-5
RUNS = [(100, 1), (100, 100), (234, 60), (1000, 10), (10_000, 1)]
KINDS = [
    ("zero_out", 0.0, 1),
    ("zero_out", 0.0, 256),
    ("zero_out", 1e-3, 1),
    ("add_remove", 1e-3, 1),
    ("replace_one", 0.0, 256),
    ("replace_one", 1e-3, 1),
]

if __name__ == "__main__":
    heads = [f"{how}, {'left out' if out else f'batches of {size}'}" for how, out, size in KINDS]
    print("| σ, batches, epochs |", " | ".join(heads), "| one Gaussian an epoch |")
    print("|---" * (len(KINDS) + 2) + "|")
    for sigma in (0.5, 1.0, 2.0, 4.0):
        for batches, epochs in RUNS:
            cells = []
            for how, out, size in KINDS:
                epoch = Shuffled(Gaussian(sigma), batches, out, size)
                found = PLD(rtol=1e-3).epsilon(epoch, delta=DELTA, steps=epochs, adjacency=how)
                width = found.epsilon / found.lower
                cells.append(f"{found.lower:.4g} to {found.epsilon:.4g} (× {width:.2f})")
            alone = PLD(rtol=1e-3).epsilon(Gaussian(sigma), delta=DELTA, steps=epochs)
            cells.append(f"{alone.epsilon:.4g}")
            print(f"| {sigma:g}, {batches}, {epochs} |", " | ".join(cells), "|", flush=True)

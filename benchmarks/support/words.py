"""Texts drawn by a procedure, in the shape of the data that examples of Opacus download."""

import torch
from torch import Tensor

Items = list[tuple[Tensor, int]]


def names(count: int, *, languages: int = 10, seed: int = 0) -> Items:
    """Names of 3 to 12 letters, and their language: each follows its own chain of 26 letters."""
    random = torch.Generator().manual_seed(seed)
    # The languages are the same for every seed of the names.
    habits = torch.Generator().manual_seed(10_000)
    follows = torch.rand(languages, 27, 26, generator=habits).pow(6)  # 0 begins a name
    items = []
    for i in range(count):
        language, letters = i % languages, [0]
        for _ in range(int(torch.randint(3, 13, (), generator=random))):
            chances = follows[language, letters[-1]]
            letters.append(1 + int(torch.multinomial(chances, 1, generator=random)))
        items.append((torch.tensor(letters[1:]), language))
    return items


def reviews(count: int, *, vocabulary: int = 5000, longest: int = 256, seed: int = 0) -> Items:
    """Reviews of 20 to `longest` words, frequent ones more often; every 20th shows the opinion."""
    random = torch.Generator().manual_seed(seed)
    chances = 1 / torch.arange(1, vocabulary + 1)
    items = []
    for i in range(count):
        length, opinion = int(torch.randint(20, longest + 1, (), generator=random)), i % 2
        words = 1 + torch.multinomial(chances, length, replacement=True, generator=random)
        shown = torch.rand(length, generator=random) < 0.05
        # Of 200 words that show an opinion, even ones are kind.
        chosen = 1 + 2 * torch.randint(100, (length,), generator=random) + opinion
        items.append((torch.where(shown, chosen, words), opinion))
    return items

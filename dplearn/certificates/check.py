r"""Checker of certificates in ball arithmetic, which imports nothing of the engine.

A certificate says that eps- <= epsilon(delta) <= eps+ for a run: delta_T(eps+) <= delta for both
orders of the neighbours, and delta_T(eps-) >= delta for one. Its other numbers shorten the proof
and need no trust: every quantity below is an enclosure (Johansson 2017), and an inequality is
proved only if it holds for the whole enclosure. Lesson 90 derives the sum. With M(z) = E e^{zL}, L
the privacy loss of one step, lambda > 0, h = 2 pi / P and z = lambda + ikh,

.. math:: S = \frac h{2\pi}\sum_k \frac{M(z)^T e^{-z\varepsilon}}{z(1+z)}
          = \sum_m e^{\lambda mP}\,\delta_T(\varepsilon + mP),

delta_T and its *aliases*. As delta_T(x) <= c(mu) M(mu)^T e^{-mu x}, c = mu^mu / (1+mu)^{1+mu}, the
aliases are below two geometric series, one for a mu > lambda and one for a mu in [0, lambda). The
terms from k = n on are below B^T e^{-lambda eps} / (pi h (n-1)) if B is at least |M(lambda + it)|
for all t >= nh.

*M.* Let f(x) = 1-q + q e^{(2x-1)/2 sigma^2}. The mean of f^{s+it} under N(0, sigma^2) is M(lambda +
it) for s = 1 + lambda if the record is removed, its conjugate for s = -lambda if added. On Im x =
phi sigma^2, 0 <= phi < pi, f(Re x) cos(phi/2) <= |f| <= f(Re x) and arg f >= 0: for t >= 0
|f^{s+it}| <= C f(Re x)^s with C = 1 or cos(phi/2)^{-lambda}. A sum over nodes on a horizontal line
errs by N / (e^{2 pi b / step} - 1) for each side to which the line may be moved by b, where N
bounds the integral of the modulus (Trefethen & Weideman 2014, Theorem 5.1): C e^{phi^2 sigma^2 / 2}
M(lambda). Beyond the end nodes the modulus falls at least like a geometric series: (log f)' lies in
[0, 1/sigma^2], and below q/sigma^2 left of 0. *B* is such a sum of |f|^s e^{-t arg f}, which falls
with t: with f's conjugate g it is (f g)^{s/2} e^{-t (log f - log g) / 2i}, no larger when moved by
b as long as phi + b <= pi/2, since arg f grows with phi.

*Replaced records.* The pair, P = f N(0) and Q = g N(0) with g(x) = f(-x) (Lebeda et al. 2025), is
its own mirror image, and M the mean of f^{1+z} g^{-z}. Off the axis g is the conjugate of f at -Re
x: the imaginary part of L is a sum of two such angles, |g|^{-lambda} has the C of f^{-lambda}, and
the slope of log f^{1+lambda} g^{-lambda} lies in [0, (1 + 2 lambda)/sigma^2].
"""

import json
import math
import re
from collections.abc import Mapping, Set
from typing import Any

from flint import acb, acb_mat, arb, ctx

# Limits on precision in bits * integration nodes, for one moment and for all: about 10 s each.
FORMAT, _MOST_NODES, _MOST_WORK = "dplearn certificate 1", 2**22, 2**34
# JSON in printable ASCII without [ and \, hence without lists and escaped characters.
_TEXT = re.compile(r"[\s!-Z\]-~]{1,9999}", re.ASCII)
_NUMBER = re.compile(r"[0-9]{1,99}(\.[0-9]{1,99})?(e[-+]?[0-9]{1,3})?")
_KEYS = {"format", "run", "lower", "upper", "lower side", "bits", "proofs", "made with"}
_RUNS = {"gaussian": ["noise_multiplier"]}
_RUNS["poisson_subsampled_gaussian"] = ["noise_multiplier", "sample_rate"]


class NotProvedError(Exception):
    """Error raised if a certificate's numbers do not prove its claim."""


def check(text: str) -> str:
    """Return the sentence that `text` proves; raise NotProvedError if the proof fails."""
    try:
        _require(_TEXT.fullmatch(text) and text.count("{") <= 5, "no short text in plain ASCII")
        once = lambda pairs: _require(len(dict(pairs)) == len(pairs), "a key twice") or dict(pairs)
        certificate = json.loads(text, object_pairs_hook=once)
        _expect(_KEYS, certificate)
        _require(certificate["format"] == FORMAT, "unknown format")
        _require(type(certificate["bits"]) is int and 53 <= certificate["bits"] <= 512, "bits")
        with ctx.workprec(certificate["bits"]):
            return _check(certificate)
    except (KeyError, TypeError, ValueError, ArithmeticError, AttributeError) as error:
        raise NotProvedError(f"not proved: the certificate is damaged ({error!a:.99})") from None


def _check(certificate: Mapping[str, Any]) -> str:
    run, proofs, *texts = (certificate[name] for name in ("run", "proofs", "lower", "upper"))
    names = ("mechanism", *_RUNS[run["mechanism"]], "steps", "delta", "adjacency")
    _expect({*names}, run)
    delta, lower, upper = (_number(text) for text in (run["delta"], *texts))
    _require(type(run["steps"]) is int and 1 <= run["steps"] <= 10**12, "steps out of range")
    _require(0 < delta < 1 and 0 <= lower <= upper, "delta or an end out of range")
    if run["mechanism"] == "poisson_subsampled_gaussian":
        _require(run["adjacency"] in ("add_remove", "zero_out", "replace_one"), "adjacency")
        _expect({"replace"} if run["adjacency"] == "replace_one" else {"remove", "add"}, proofs)
        pairs = {side: SampledRun(run, side, proofs[side]) for side in proofs}
        enclose = lambda side, end: pairs[side].delta(end)
    else:
        _expect(set(), proofs)
        distance = {"add_remove": 1, "zero_out": 1, "replace_one": 2}[run["adjacency"]]
        mu = distance * arb(run["steps"]).sqrt() / _number(run["noise_multiplier"])
        _require(mu > 0, "noise_multiplier")
        tail = lambda z: (z / arb(2).sqrt()).erfc() / 2
        profile = lambda e: tail(e / mu - mu / 2) - e.exp() * tail(e / mu + mu / 2)
        enclose = lambda _, end: (profile(end),) * 2
    for side in proofs or ("either",):
        above = enclose(side, upper)[1]
        _require(above <= delta, f"delta at the upper end is at most {above.str(5)}, {side}")
    below = enclose(certificate["lower side"], lower)[0] if lower > 0 else arb(1)
    _require(below >= delta, f"delta at the lower end is at least {below.str(5)}")
    message = ", ".join(f"{name} = {run[name]}" for name in names)
    return f"proved: {texts[0]} <= epsilon <= {texts[1]} for {message}"


class SampledRun:
    """Run of a Poisson-subsampled Gaussian; `side` is how a record changes, such as "remove"."""

    def __init__(self, run: Mapping[str, Any], side: str, proof: Mapping[str, Any]) -> None:
        self.sigma, self.q = _number(run["noise_multiplier"]), _number(run["sample_rate"])
        _require(self.sigma > 0 and 0 < self.q < 1, "noise_multiplier or sample_rate")
        self.steps, self.side, self.proof = run["steps"], side, proof
        self.moments: list[acb] = []  # computed once, for both ends of the bracket of epsilon

    def delta(self, epsilon: arb) -> tuple[arb, arb]:
        """Return lower and upper bounds on the delta of all steps at `epsilon`."""
        if "chernoff" in (proof := self.proof):
            _expect({"chernoff"}, proof)
            return arb(0), self._chernoff(_number(proof["chernoff"]), epsilon)
        names, count = ("tilt", "period", "smaller", "larger", "cut angle"), proof["nodes"]
        _expect({"nodes", *names}, proof)
        tilt, period, smaller, larger, angle = (_number(proof[name]) for name in names)
        _require(0 <= smaller < tilt < larger and period > 0, "smaller < tilt < larger, period")
        _require(type(count) is int and 4 <= count < 2**17, "nodes out of range")
        h, unit, total = 2 * arb.pi() / period, (-tilt * epsilon).exp(), arb(0)
        self.moments = self.moments or self._moments(tilt, h, count)
        for k, moment in enumerate(self.moments):
            z = acb(tilt, k * h)
            term = moment**self.steps * acb(0, -k * h * epsilon).exp() / (z * (1 + z))
            total += term.real / (1 if k else 2)
        total *= h / arb.pi() * unit
        cut = self._beyond(tilt, count * h, angle) ** self.steps * unit / arb.pi() / h / (count - 1)
        aliases = self._chernoff(larger, epsilon) / ((larger - tilt) * period).expm1()
        aliases += self._chernoff(smaller, epsilon) / ((tilt - smaller) * period).expm1()
        return total - cut - aliases, total + cut

    def _chernoff(self, mu: arb, epsilon: arb) -> arb:
        """Return the Chernoff bound exp(log_c - mu epsilon) E[exp(mu L)]^steps on delta."""
        _require(mu >= 0, "a negative mu")
        log_c = mu * (mu / (1 + mu)).log() - (1 + mu).log() if mu > 0 else arb(0)
        return self._moment(mu) ** self.steps * (log_c - mu * epsilon).exp()

    def _moment(self, mu: arb) -> arb:
        _, weights, beyond, error = self._line(mu, arb(0), self._room(mu))
        _require(error < 1, "too few nodes in x")
        return sum((weight.real for weight in weights), beyond) / (1 - error)

    def _moments(self, tilt: arb, h: arb, count: int) -> list[acb]:
        """Return enclosures of E[exp((tilt + ikh) L)] of the privacy loss L, for all k < count."""
        angle = self._room(tilt)
        logs, weights, beyond, error = self._line(tilt, angle, angle)
        _require(count * len(logs) * ctx.prec <= _MOST_WORK, "too many nodes in both directions")
        ball = arb(0, (error * self._moment(tilt) + beyond).abs_upper())
        block, turns = math.isqrt(count), [acb(0, h) * log for log in logs]
        fine = acb_mat([[(b * turn).exp() for b in range(block)] for turn in turns])
        coarse = [
            [(a * block * turn).exp() * w for turn, w in zip(turns, weights, strict=True)]
            for a in range(-(-count // block))
        ]
        moments = [m + acb(ball, ball) for m in (acb_mat(coarse) * fine).entries()[:count]]
        return [m.conjugate() for m in moments] if self.side == "add" else moments

    def _beyond(self, tilt: arb, t: arb, angle: arb) -> arb:
        """Return an upper bound on |E[exp((tilt + iu) L)]|, L the privacy loss, for all u >= t."""
        _require(0 < angle < 1.5, "cut angle")
        room = min(self._room(tilt), arb.pi() / 2 - angle)
        logs, weights, beyond, error = self._line(tilt, angle, room)
        sizes = (abs(w) * (-t * log.imag).exp() for w, log in zip(weights, logs, strict=True))
        return sum(sizes, beyond + error * self._moment(tilt))

    def _room(self, tilt: arb) -> arb:
        """Return the angle that shifts the integration line: any is valid, this needs few nodes."""
        most = min(1.5, 1.5 / float(self.sigma))
        most = most if self.side == "remove" else min(most, 3 / math.sqrt(1 + float(tilt)))
        return arb(most)

    def _line(self, tilt: arb, phi: arb, room: arb) -> tuple[list[acb], list[acb], arb, arb]:
        """Return log likelihood ratios, weights, a bound on the tails, and a relative error."""
        sigma, replaced, s = self.sigma, self.side == "replace", 1 + tilt
        s = -tilt if self.side == "add" else s
        up, down, digits = max(s, arb(0)), max(-s, arb(0)) * self.q, math.log(2) * ctx.prec
        up += tilt if replaced else 0
        left = (-sigma * math.sqrt(2 * digits) - down).mid()
        step = (2 * arb.pi() * room * sigma**2 / digits).mid()
        count = math.ceil(float((up - 2 * left) / step)) + 1
        _require(1 < count <= _MOST_NODES / ctx.prec, "too many nodes in x")

        def at(x: arb, phi: arb) -> tuple[acb, acb]:
            ratio = lambda x, phi: acb((2 * x - 1) / (2 * sigma**2), phi).exp()
            log = (1 - self.q + self.q * ratio(x, phi)).log()
            size = s * log - acb(x, phi * sigma**2) ** 2 / (2 * sigma**2)
            if replaced:
                other = (1 - self.q + self.q * ratio(-x, -phi)).log()
                log, size = log - other, size - tilt * other
            return log, size.exp() * step / (sigma * (2 * arb.pi()).sqrt())

        logs, weights = zip(*(at(left + j * step, phi) for j in range(count)), strict=True)
        right, beyond = left + (count - 1) * step, arb(0)
        for end, slope in ((left, left + down), (right, up - right)):
            fall = (step * slope / sigma**2).exp()
            _require(fall < 1, "a line that is too short")
            beyond += at(end, arb(0))[1].real * fall / (1 - fall) * self._grown(phi, tilt)
        fold = (2 * arb.pi() * room * sigma**2 / step).expm1()
        return list(logs), list(weights), beyond, 2 * self._grown(phi + room, tilt) / fold

    def _grown(self, phi: arb, tilt: arb) -> arb:
        """Return a bound on the integral of |integrand| at angle phi, relative to angle 0."""
        _require(phi <= 3.05, "phi")
        grown = (phi**2 * self.sigma**2 / 2).exp()
        return grown if self.side == "remove" else grown * (phi / 2).cos() ** -tilt


def _number(text: object) -> arb:
    """Return an enclosure of the decimal number in `text`, not of the nearest double."""
    if isinstance(text, str) and _NUMBER.fullmatch(text):
        return arb(text)
    raise NotProvedError(f"not proved: {text!a:.50} is no decimal number")


def _expect(names: Set[str], place: Mapping[str, Any]) -> None:
    _require(place.keys() == names, f"the keys are not {sorted(names)}")


def _require(holds: object, what: str) -> None:
    if not holds:
        raise NotProvedError(f"not proved: {what}")

"""The parts of the page: controls, the sentence, both pictures."""

import math

import streamlit as st

from dplearn.app.kit import controls, look
from dplearn.app.kit.language import retold, translated
from dplearn.app.kit.state import State
from dplearn.app.pages.federated import answers, fields
from dplearn.app.pages.federated.answers import BY, SHARES, Setting
from dplearn.figures import price_lines, seen_by_a_server
from dplearn.ground.guarantee import Guarantee, round_down, round_up

_PURPOSE = (
    "Phones train on their own records and send how the model should change. A server adds up. "
    "Masks decide who sees what, noise decides what can be learnt from it."
)
_SENTENCES = {
    "nobody": "**No noise, no ε.** {stays} of {clients} phones stay.",
    "server": "**Readers of the model: {readers} per user. The server: no ε**, it is trusted with "
    "every exact sum.",
    "phones": "**The server and readers of the model: {server} per user.** {stays} of {clients} "
    "phones stay, and each added noise of {share:.3g} C.",
    "alone": "**The server and readers of the model: {server} per user.** Each phone added noise "
    "of {share:.3g} C, {times:.3g} times a share.",
}
_RAW = (
    "**The server: {server} per user; readers of the model: {readers}.** {stays} of {clients} "
    "phones stay, and each added noise of {share:.3g} C."
)
_VIEWS = {
    True: "Masked, a vector tells nothing; two sums, with a user and without, tell what noise "
    "leaves.",
    False: "Raw, the server meets each vector with the noise of that phone alone.",
}
_BY_RECORD = (
    "*User or record?* Whole updates are clipped. Had single records been, a user with {records} "
    "would have {by_record} against readers."
)
_KINDS = {
    "exact": "ε\u00a0=\u00a0{most} (exact)",
    "bracket": "{least}\u00a0≤\u00a0ε\u00a0≤\u00a0{most} (proved)",
    "upper": "ε\u00a0≤\u00a0{most} (upper bound)",
    "none": "no ε",
}
_READ = "Nothing hides her update from the server"
_HIDDEN = "Noise of {noise:.3g} C is all that hides her update"
_SEEN = (
    "Three images of 8 times 8 pixels: a part of one user's update, what arrives of it at the "
    "server, and the difference of two sums with and without it. {title}."
)
_CAPTIONS = {
    "hers": "her<br>update",
    "arrives": "what<br>arrives of it",
    "sums": "two sums,<br>subtracted",
}
_MEAN = "Noise of {noise:.3g} C on the mean of {stays}"
_ALONE = "Alone: {times:.3g} times the noise of shares"
_COSTS = (
    "Noise on the mean of the updates against the number of phones in a round, a falling line for "
    "each place of the noise. {title}."
)
_TAKEN = "{share:.0f}\u00a0% left with their noise: ε ≤ {most}, not {planned}"
_KEPT = "ε ≤ {most}, whoever of the {share:.0f}\u00a0% leaves"
_LEAVE = (
    "Epsilon of a user against the share of phones that leaves: flat if shares of noise are for "
    "those who stay, rising if they are for all invited. {title}."
)
_GONE, _EPSILON = "share of phones that leaves", "ε of a user, from the sums"
_PHONES, _DEVIATION = "phones in a round", "noise on the mean, in C"


def sidebar(state: State) -> Setting:
    """All controls, and what they describe."""
    st.markdown(translated("**dplearn** · phones and a server"), help=translated(_PURPOSE))
    controls.choice(state, fields.PLACE)
    controls.choice(state, fields.VIEW, widget="segments")
    if state.values["place"] == "phones":
        controls.choice(state, fields.SHARES, widget="segments")
    for kind in fields.NUMBERS:
        controls.quantity(state, kind)
    value = state.values
    return Setting(
        place=value["place"],
        masked=value["view"] == "masked",
        invited=value["place"] == "phones" and value["shares"] == "invited",
        **{kind.key: value[kind.key] for kind in fields.NUMBERS},
    )


def outcome(setting: Setting, *, moving: bool) -> None:
    """The sentence, the pictures and what they assume; less of it while a slider moves."""
    readers, server = answers.promised(setting)
    words = {
        "stays": setting.left,
        "clients": setting.clients,
        "share": setting.share,
        "times": setting.left**0.5,
        "readers": _told(readers),
        "server": _told(server),
    }
    raw = setting.share > 0 and not setting.masked
    promise = translated(_RAW if raw else _SENTENCES[setting.place], **words)
    with st.container(key="words"):
        st.markdown(f"{promise} {translated(_VIEWS[setting.masked])}")
    left, right = st.columns(2, gap="small")
    with left.container(key="pair_seen"):
        title = translated(_HIDDEN if setting.seen else _READ, noise=setting.seen)
        captions = [translated(_CAPTIONS[which]) for which in _CAPTIONS]
        seen = dict(zip(captions, answers.pictures(setting), strict=True))
        alt = translated(_SEEN, title=title)
        look.chart(seen_by_a_server(seen, finding=title), "seen", alt)
    with right.container(key="pair_costs"):
        (_leaving if setting.place == "phones" else _costs)(setting)
    with st.container(key="by_record"):
        if not moving and setting.place != "nobody":
            by_record = _told(answers.by_record(setting))
            st.markdown(translated(_BY_RECORD, records=setting.records, by_record=by_record))
    promised = [one for one in (readers, server) if one is not None]
    if assumed := dict.fromkeys(a for one in promised for a in one.assumptions):
        st.caption(retold(f"True if: {'; '.join(assumed)}."))


def _told(promised: Guarantee | None) -> str:
    """Epsilon and its kind."""
    if promised is None or not math.isfinite(promised.epsilon):
        return translated(_KINDS["none"])
    least, most = round_down(promised.lower), round_up(promised.epsilon)
    return translated(_KINDS[promised.kind], least=least, most=most)


def _leaving(setting: Setting) -> None:
    """Why shares are for those who stay: epsilon as phones leave."""
    x, lines = answers.over_dropouts(setting)
    readers, _ = answers.promised(setting)  # between two points of a line there are steps
    most = round_up(readers.epsilon if readers else math.inf)
    told = {"share": 100 * setting.dropouts, "most": most}
    title = translated(_KEPT, **told)
    if setting.invited:
        title = translated(_TAKEN, planned=round_up(float(lines[SHARES[True]][0])), **told)
    here = (setting.dropouts, SHARES[setting.invited])
    look_of = {"roles": ("exact", "wrong"), "dashed": ("wrong",), "axes": (_GONE, _EPSILON)}
    figure = price_lines(x, lines, here=here, finding=title, **look_of)
    look.chart(figure, "costs", translated(_LEAVE, title=title))


def _costs(setting: Setting) -> None:
    """Why shares at all: noise on the mean by who adds it."""
    x, lines = answers.over_clients(setting)
    title = translated(_MEAN, noise=setting.of_sum / setting.left, stays=setting.left)
    if setting.place == "alone":
        title = translated(_ALONE, times=setting.left**0.5)
    here = (setting.clients, BY.get(setting.place, ""))
    look_of = {"roles": ("exact", "second", "other"), "dashed": ("second",), "log": True}
    figure = price_lines(x, lines, here=here, axes=(_PHONES, _DEVIATION), finding=title, **look_of)
    look.chart(figure, "costs", translated(_COSTS, title=title))

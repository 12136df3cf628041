"""One entry of the formula book: statement, picture, check and wrong variants."""

import streamlit as st

from dplearn.app.kit import look, questions
from dplearn.app.kit.language import translated
from dplearn.app.kit.state import State
from dplearn.app.pages.formula_book import controls, elsewhere, points, search, words
from dplearn.app.pages.formula_book.place import refuted, shown, start
from dplearn.app.pages.formula_book.tables import verified
from dplearn.book import Formula, Misprint, book
from dplearn.book.everything import verification

# Seconds for a picture, while a slider moves and when it rests.
_DRAFT, _PICTURE = 0.4, 1.5
_STOPPED = "Stopped after {seconds:g} s with {points} points."
_CHECKS = "Compares {points} points or more of its domain with another way to the truth."


def entry(state: State) -> None:
    """The statement above; the picture on the left, on the right what was checked and code."""
    formula = book[state.values["id"]]
    st.markdown(f"#### {formula.id} · {formula.title}")
    with st.container(key="statement", gap="small"):
        st.latex(formula.statement)
        about = f"{words.kind_of(formula)} {words.hypothesis(formula)}"
        st.markdown(f"{about}  \n:small[{formula.reference}]")
    left, right = st.columns([9, 5], gap="medium")
    with right:
        _verification(formula)
        _misprints(state, formula)
        st.caption(f"`{words.signature(formula)}`")
        printed = formula.printed
        parameters = printed[0].parameters if printed else start(formula.id, "none")
        st.code(words.as_python(formula, parameters), wrap_lines=True)
        _links(state, formula)
        for lesson in search.lessons(formula.id):
            title = translated("Lesson {title}", title=lesson)
            st.markdown(f":material/school: {title}")
    with left:
        _picture(state)
        controls.below(state)


def _links(state: State, formula: Formula) -> None:
    """Where to go from here: the claim typed in, and the run, where the entry speaks of one."""
    if address := elsewhere.claim(formula.id):
        where = translated("Where does it hold? Check it as a claim")
        st.markdown(f":material/fact_check: [{where}]({address})")
    if address := elsewhere.run(controls.place_of(state).parameters):
        every = translated("All accountants on this run")
        st.markdown(f":material/show_chart: [{every}]({address})")


def _picture(state: State) -> None:
    """Formula against oracle, and whether all of it is there."""
    place, name = controls.place_of(state), state.values["along"]
    claim = place.claim
    seconds = _DRAFT if state.moving else _PICTURE
    along = name if state.values["picture"] == "curve" else ""
    figure, headline, picture = points.drawn(place, along, seconds=seconds)
    with st.container(key="picture"):
        about = translated("Value and truth of {id}", id=claim.id)
        alt = f"{about}, {book[place.id].title}. {headline}."
        look.chart(figure, "formula_picture", alt)
    if not picture.complete and not state.moving:
        left, right = st.columns([3, 1], vertical_alignment="center")
        left.caption(translated(_STOPPED, seconds=seconds, points=len(picture.points)))
        right.button(translated("Go on"), key="go_on")


def _verification(formula: Formula) -> None:
    """A button that checks the entry in front of the reader, and what came out."""
    results = verified()
    name = translated("Verify now")
    if st.button(name, type="primary", icon=":material/check:", width="stretch"):
        with st.spinner(translated("Comparing with the oracle …")):
            results[formula.id] = questions.ask(verification, formula.id)
    if result := results.get(formula.id):
        (st.success if result.good else st.error)(words.verified(result))
    else:
        st.caption(translated(_CHECKS, points=formula.points))


def _misprints(state: State, formula: Formula) -> None:
    """The wrong variants in circulation; the open one is drawn."""
    if not formula.misprints:
        st.caption(translated("No wrong variant of it is known to this book."))
        return
    title = translated("Wrong variants in circulation")
    st.markdown(f"**{title}** ({len(formula.misprints)})")
    with st.container(key="variants", gap="small"):
        for misprint in formula.misprints:
            _misprint(state, misprint)


def _misprint(state: State, misprint: Misprint) -> None:
    id, chosen = state.values["id"], state.values["misprint"] == misprint.name
    key = f"open_{id}_{misprint.name}"
    st.session_state[key] = chosen

    def turned() -> None:
        controls.go(misprint=misprint.name if st.session_state[key] else "none")

    name = misprint.name.replace("-", " ")
    with st.expander(name, key=key, on_change=turned, icon=":material/close:"):
        if chosen:
            claim = shown(id, misprint.name)
            with st.spinner(translated("Looking for a counterexample …")):
                result = refuted(id, misprint.name)
            st.latex(claim.statement)
            if result.counterexample:
                case = words.case(claim.kind, result.counterexample)
                (st.error if result.unsafe else st.warning)(f"{case}  \n{words.danger(result)}")
            else:
                st.info(f"{words.status(result.status)} {result.reason}")
            given = words.hypothesis(claim)
            given = translated("Claimed {given}", given=f"{given[0].lower()}{given[1:]}")
            given = f"{given}  \n" if misprint.given is not None else ""
            address = elsewhere.claim(id, misprint.name)
            given += f"[{translated('Check it as a claim')}]({address})  \n" if address else ""
            met = translated("Met in {place}.", place=misprint.met or translated("notes"))
            st.markdown(f"{misprint.note}  \n{given}:small[{met}]")

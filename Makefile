# Everything runs inside .venv, which the first target that needs it creates.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
NBVAL := --nbval --nbval-current-env --nbval-cell-timeout=120 --nbval-sanitize-with tests/nbval.cfg

.PHONY: app test fast lint lessons bench clean

$(VENV)/installed: requirements.txt pyproject.toml
	$(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check -r requirements.txt
	touch $@

app: $(VENV)/installed  ## open the explorer
	$(BIN)/streamlit run app.py

test: $(VENV)/installed lint  ## everything: unit, contract, doctests, pages, browser, lessons
	$(BIN)/python -m pytest -n 2 --dist loadgroup
	$(BIN)/python -m pytest $(NBVAL) -n 2 --dist loadfile lessons

fast: $(VENV)/installed  ## what to run while working
	$(BIN)/python -m pytest -n 2 -m "not browser and not slow"

lint: $(VENV)/installed
	$(BIN)/ruff format --check
	$(BIN)/ruff check
	$(BIN)/pyright

lessons: $(VENV)/installed  ## rebuild the notebooks from their sources
	$(BIN)/dplearn lessons build

bench: $(VENV)/installed  ## side-by-side measurements
	for file in benchmarks/*.py; do $(BIN)/python $$file || exit 1; done

clean:
	rm -rf $(VENV) artefacts build *.egg-info

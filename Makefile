# Everything runs inside .venv; each target installs what it needs there and is not yet there.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
PIP := $(BIN)/python -m pip --quiet --disable-pip-version-check
# Installs an extra of pyproject.toml at the versions that requirements.txt pins. What is imported is
# compiled then: all of it would take a minute, and most is never looked at.
EXTRA = grep -v '^-e' requirements.txt | $(PIP) install --no-compile --constraint /dev/stdin --editable
NBVAL := --nbval --nbval-kernel-name=warm --nbval-cell-timeout=600 \
	--nbval-kernel-startup-timeout=300 --nbval-sanitize-with tests/nbval.cfg
# Whoever switches compiled files off would wait for pytest to rewrite each test at every start.
unexport PYTHONDONTWRITEBYTECODE
# Tests run side by side: threads of one that wait for each other would take the others' time.
test fast thorough-examples thorough-oldest: export OMP_NUM_THREADS := 1

# Quick tests in two processes, of which each loads what its rooms need.
QUICK := $(BIN)/python -m pytest -q -m "not browser and not slow"
CORE := $(addprefix tests/,core engine mechanisms accountants certificates house \
	teaching/book teaching/claims teaching/figures teaching/browser teaching/site teaching/explorer)
REST := tests/teaching/classroom dplearn --ignore=dplearn/teaching $(filter-out $(CORE) tests/teaching tests/__pycache__, \
	$(patsubst %/,%,$(wildcard tests/*/)))

.PHONY: app train test thorough thorough-examples thorough-oldest thorough-pythons fast fast-core fast-rest lint lessons site flower bench clean

app: $(VENV)/app  ## open the explorer
	$(BIN)/dplearn app

train: $(VENV)/train  ## add PyTorch, for dplearn.training

test: $(VENV)/all lint  ## everything: unit, contract, doctests, types, pages, browser, lessons
	$(BIN)/python tests/chromium.py
	$(BIN)/python -m pytest $(NBVAL) -n 3 --dist loadgroup -m "not thorough" tests dplearn lessons

# Lower bounds of pyproject.toml.
LOWEST := $(shell sed -n '/^dependencies = /{s/>=/==/g;s/.*\[//;s/[],]//g;p}' pyproject.toml)

thorough: thorough-examples thorough-oldest thorough-pythons  ## what nobody waits for

# Properties on other examples at each run, layout, Pyodide, and Firefox where there is one. What it
# finds becomes an example of a test.
thorough-examples: $(VENV)/all
	$(BIN)/python tests/chromium.py
	$(BIN)/python -m pytest -n 2 --dist loadgroup --hypothesis-profile=thorough \
		-m "thorough or hypothesis" tests

thorough-oldest:  # numpy and scipy
	$(PYTHON) -m venv artefacts/lowest
	artefacts/lowest/bin/python -m pip install --quiet $(LOWEST) pytest hypothesis mpmath playwright
	artefacts/lowest/bin/python -m pytest -q -m "not slow" tests/engine tests/mechanisms

thorough-pythons:
	for python in python3.12 python3.13; do if $$python -c "" 2>/dev/null; \
		then $(MAKE) fast PYTHON=$$python VENV=artefacts/$$python || exit 1; \
		else echo "$$python does not start: put one on PATH to run make fast on it."; fi; done

fast: $(VENV)/all  ## what to run while working
	$(MAKE) --jobs=2 fast-core fast-rest

fast-core:
	$(QUICK) $(CORE)

fast-rest:
	$(QUICK) $(REST)

lint: $(VENV)/all
	$(BIN)/ruff format --check
	$(BIN)/ruff check

lessons: $(VENV)/all  ## rebuild the notebooks from their sources
	$(BIN)/dplearn lessons build

site: $(VENV)/all  ## lessons, book and ε against T as plain files in artefacts/site
	$(BIN)/dplearn site artefacts/site

flower:  ## run the Flower example once, in an environment of its own
	$(PYTHON) -m venv artefacts/flower
	artefacts/flower/bin/python -m pip install --quiet --editable ".[flower]" pytest
	artefacts/flower/bin/python -m pytest --noconftest -o addopts= tests/federated/flower_example.py

bench: $(VENV)/all  ## side-by-side measurements
	for file in benchmarks/*.py; do $(BIN)/python $$file || exit 1; done

clean:
	rm -rf $(VENV) artefacts build *.egg-info

$(BIN)/python:
	$(PYTHON) -m venv $(VENV)

$(VENV)/app: requirements.txt pyproject.toml | $(BIN)/python
	$(EXTRA) ".[app]"
	touch $@

$(VENV)/train: requirements.txt pyproject.toml | $(BIN)/python
	$(EXTRA) ".[app,train]"
	touch $(VENV)/app $@

$(VENV)/all: requirements.txt requirements-dev.txt pyproject.toml | $(BIN)/python
	$(PIP) install --no-compile -r requirements-dev.txt
	touch $(VENV)/app $(VENV)/train $@

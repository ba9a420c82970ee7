# Two commands for a fresh machine with Python, make and gcc: make demo, make test.
PYTHON ?= python3
VENV   := .venv
BIN    := $(VENV)/bin

.PHONY: demo test quick lint types ci schema wheel clean

demo: $(VENV)/ready          ## compile a model, run it, say what was made
	@$(BIN)/anyjoint demo

test: $(VENV)/ready          ## all tests
	$(BIN)/python -m pytest -q

quick: $(VENV)/ready         ## a representative part of the tests
	$(BIN)/python -m pytest -q -m quick

lint: $(VENV)/ready
	$(BIN)/ruff check toolchain tests

types: $(VENV)/ready
	$(BIN)/mypy

ci: lint types test          ## what .ci/run does

schema: $(VENV)/ready        ## renew the JSON Schema beside the models
	$(BIN)/anyjoint schema > models/anyjoint.schema.json

wheel: $(VENV)/ready
	$(BIN)/python -m pip -q wheel --no-deps -w dist .

$(VENV)/ready: pyproject.toml
	@echo "setting up $(VENV) (once) ..."
	@$(PYTHON) -m venv $(VENV)
	@$(BIN)/python -m pip install -q --disable-pip-version-check -e ".[dev]"
	@touch $@

clean:
	rm -rf $(VENV) dist build .pytest_cache .mypy_cache .ruff_cache .hypothesis
	find generated -mindepth 1 ! -name README.md -delete

# `make run` lints an example, or PATHS, `make test` runs all tests, `make test-all` does so on each Python that is here,
# `make lint` checks style and types, `make fuzz` looks for inputs at which the tool does not hold, for SECONDS,
# `make growth` measures how cost grows with the size of programs, `make benchmarks` all beside other tools,
# `make release` tries all that a release needs.
# Everything lives in .venv; delete it to start afresh.

PYTHON ?= python3
VENV ?= .venv
PYTHONS ?= 3.10 3.11 3.12 3.13 3.14
PATHS ?= examples
PYTEST_ARGS ?= -n auto --dist worksteal
SECONDS ?= 600
BIN := $(VENV)/bin
PIP := $(BIN)/python -m pip
# Tests start the tool a thousand times; where Python is told to write no bytecode, it would be compiled as often.
unexport PYTHONDONTWRITEBYTECODE

.PHONY: run test test-all docs layouts statements rewritings repairs obstacles edits figures benchmarks growth \
  independence first-pass lint fuzz vsix release clean

# Findings are what `run` is meant to show, so they do not fail it; wrong usage does.
run: $(VENV)/.installed
	@$(BIN)/tfmemlint check --exit-zero $(PATHS)
	@printf '\nNext:\n'
	@printf '  %-58s %s\n' 'make run PATHS=path/to/your/code' 'the same for your code' \
	  '$(BIN)/tfmemlint check --diff $(PATHS)' 'what --fix would change' \
	  '$(BIN)/tfmemlint estimate $(PATHS) --gpu T4' 'the memory of a training step' \
	  '$(BIN)/tfmemlint rule TFM304' 'what a rule means' \
	  '$(BIN)/tfmemlint --help' 'all commands'

test: $(VENV)/.installed-test
	@$(BIN)/python -m compileall -q tfmemlint rules
	$(BIN)/python -m pytest $(PYTEST_ARGS)

# The same on each Python that is here, one after the other, each in an environment of its own; TensorFlow knows those up
# to 3.13, and on others the tests that run it say that they are left out.
test-all:
	@failed=; for version in $(PYTHONS); do \
	  python=$$(python$$version -c 'import sys; print(sys.executable)' 2>/dev/null || \
	    ls -d $${PYENV_ROOT:-$$HOME/.pyenv}/versions/$$version.*/bin/python 2>/dev/null | tail -1); \
	  if [ -z "$$python" ]; then echo "Python $$version: not here"; continue; fi; \
	  echo "Python $$version: $$python"; \
	  $(MAKE) --no-print-directory test PYTHON=$$python VENV=$(VENV)-$$version || failed="$$failed $$version"; \
	done; if [ -n "$$failed" ]; then echo "failed:$$failed"; exit 1; fi

# Seconds and memory for programs of twice the size. It takes minutes, and a quiet machine.
growth: $(VENV)/.installed-test
	$(BIN)/python -m benchmarks growth

# Everything beside other tools, and docs/performance.md written of it; ARGS="--only scaling" measures a part anew. It
# fetches packages, takes minutes by the dozen, and needs a quiet machine.
benchmarks: $(VENV)/.installed-test
	$(BIN)/python -m benchmarks $(ARGS)

# Every sample with other line ends, encodings and import styles, and without what may change nothing; `test` tries a
# part of them each day.
layouts: $(VENV)/.installed-test
	TEST_DAY=all $(BIN)/python -m pytest $(PYTEST_ARGS) tests/test_fixtures.py tests/test_independence.py

# Every sample in every compound statement; `test` tries a part of them each day.
statements: $(VENV)/.installed-test
	TEST_DAY=all $(BIN)/python -m pytest $(PYTEST_ARGS) tests/test_wrapped.py

# Every sample written in ten other ways, under all rules; `test` asks the rule that the sample belongs to.
rewritings: $(VENV)/.installed-test
	$(BIN)/python tests/test_properties.py

# Every sample before and after its repairs, run under TensorFlow and compared; `test` leaves out some that take long.
repairs: $(VENV)/.installed-test
	$(BIN)/python tests/repairs.py

# The measured samples in fresh processes, and in copies of one side by side; `test` compares those that show fast.
figures: $(VENV)/.installed-test
	$(BIN)/python tests/verify/same_figures.py

# All of the small files that show what keeps programs from being measured; `test` measures an eighth of them each day.
obstacles: $(VENV)/.installed-test
	TEST_DAY=all $(BIN)/python -m pytest $(PYTEST_ARGS) tests/verify/test_obstacles.py

# 2 000 edits at random of what the language server has open, and each rule's sample repaired in it; `test` makes an
# eighth and a twelfth of them each day.
edits: $(VENV)/.installed-test
	TEST_DAY=all $(BIN)/python -m pytest $(PYTEST_ARGS) tests/server/test_server_edits.py tests/server/test_server_actions.py

# The documentation as a site in build/site, with no warning: every link leads somewhere.
docs: $(VENV)/.installed-docs
	NO_MKDOCS_2_WARNING=1 $(BIN)/python -m mkdocs build --quiet --clean

# The extension for VS Code, as dist/tfmemlint.vsix, from npm's packages; its tests need no VS Code. Where it is built and
# code-server (npm) and Chromium are here, `test` asks VS Code itself, too.
vsix: $(VENV)/.installed-test
	cd editors/vscode && npm ci --no-audit --no-fund && TFMEMLINT=$(abspath $(BIN))/tfmemlint npm test
	@mkdir -p dist
	cp LICENSE editors/vscode/LICENSE
	cd editors/vscode && npx vsce package --allow-missing-repository --out ../../dist/tfmemlint.vsix

# On code of your own choice: PATHS=path/to/projects. Comments and other rules must change no finding.
independence: $(VENV)/.installed-test
	$(BIN)/python tests/independence.py $(PATHS)

# On code of your own choice: the first pass must see the trees that libcst makes, and change no report.
first-pass: $(VENV)/.installed-test
	$(BIN)/python tests/first_pass.py $(PATHS)

# mypy does not see through an editable install that maps rules/ to tfmemlint_rules; a link shows it the way.
lint: $(VENV)/.installed-lint
	$(BIN)/ruff check .
	@mkdir -p build/typing
	@ln -sfn ../../rules build/typing/tfmemlint_rules
	$(BIN)/mypy

# What was done is kept in build/fuzz, failures in build/fuzz/failures; SEED=5 begins elsewhere than today's number does.
fuzz: $(VENV)/.installed-test
	$(BIN)/python -m tests.fuzz --seconds $(SECONDS) $(if $(SEED),--seed $(SEED))

$(VENV)/.installed-docs: $(VENV)/.installed
	$(PIP) install --quiet --group docs
	@touch $@

# Site, tag, texts, pages, sdist and wheel, and the wheel in an environment of its own; it leaves dist/ and publishes nothing.
release: $(VENV)/.installed-test docs
	$(PIP) install --quiet --group release
	$(BIN)/python -m tfmemlint.dev release

clean:
	rm -rf $(VENV) build dist *.egg-info

$(BIN)/python:
	@$(PYTHON) -c 'import sys; sys.exit("tfmemlint needs Python 3.10 or newer, not " + sys.version.split()[0] + "; try: make PYTHON=python3.12") if sys.version_info < (3, 10) else None'
	$(PYTHON) -m venv $(VENV)

# pip before 25.1, which older Pythons bring, does not know dependency groups. What setuptools would have to say of
# editable installations, that a folder of the package's name in the working directory hides it, is what we want here.
$(VENV)/.installed: pyproject.toml | $(BIN)/python
	$(PIP) install --quiet --upgrade "pip>=25.1"
	PYTHONWARNINGS="ignore:Editable installation" $(PIP) install --quiet --editable .
	@touch $@

$(VENV)/.installed-test: $(VENV)/.installed
	$(PIP) install --quiet --group test --group tf
	$(PIP) install --quiet --no-deps --group keras2
	@touch $@

$(VENV)/.installed-lint: $(VENV)/.installed
	$(PIP) install --quiet --group lint
	@touch $@

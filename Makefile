# Commands, each of which sets up what it needs in .venv (Python >= 3.11 and make are enough).
PYTHON ?= python3
OTHER_PYTHON ?= python3.13
BIN := .venv/bin
PIP := $(BIN)/pip --disable-pip-version-check --quiet
export PIP_DEFAULT_TIMEOUT ?= 60
# Tests start hundreds of processes, each of which would compile the packages again.
unexport PYTHONDONTWRITEBYTECODE
# NumPy, which nothing here computes with, would start threads that spin in each of them.
export OPENBLAS_NUM_THREADS ?= 1
NOT_INSTALLED = { echo "make: $@ could not be installed, see above; is the package index reachable?" >&2; exit 1; }

# Queries that differ from what the branch was pushed with, or from the last commit.
CHANGED_SQL = { git diff --name-only --diff-filter=d \
  "$$(git merge-base HEAD '@{upstream}' 2>/dev/null || echo HEAD)" -- '*.sql'; \
  git ls-files --others --exclude-standard -- '*.sql'; }

# American spelling of names, files, documents and messages; what was recorded is as it was.
SPELLING = git ls-files $(addprefix '*.,$(addsuffix ',md py sql j2 css js toml)) tests/wording/messages.txt \
  | grep -v /captures/ | xargs $(BIN)/typos --config tests/wording/typos.toml

REAL_FRAMEWORKS := tests/frameworks/test_agent_tests.py tests/frameworks/test_frameworks.py tests/frameworks/test_phoenix.py tests/frameworks/test_quickstarts.py tests/frameworks/test_tracegrade_run.py
TRIED_FRAMEWORKS := current earlier quickstarts crewai llama_index phoenix $(shell command -v npm >/dev/null && echo quickstarts_node)

# A test that runs for a quarter of an hour waits forever: it fails, and prints where it waits.
ENDING_HANGS := -o faulthandler_timeout=900 -o faulthandler_exit_on_timeout=true

# The kit by the schemas that check-jsonschema brings; zizmor reads workflows without the network.
KIT = $(BIN)/check-jsonschema --builtin-schema vendor.compose-spec kit/compose.yaml \
  && $(BIN)/check-jsonschema --builtin-schema vendor.github-actions kit/action/action.yml \
  && $(BIN)/check-jsonschema --builtin-schema vendor.github-workflows kit/snippets/github.yaml harness/examples/*.yaml \
  && $(BIN)/check-jsonschema --builtin-schema vendor.gitlab-ci --data-transform gitlab-ci kit/snippets/gitlab.yaml \
  && $(BIN)/check-jsonschema --builtin-schema vendor.buildkite kit/snippets/buildkite.yaml \
  && $(BIN)/zizmor --offline --quiet --strict-collection kit/action/action.yml kit/snippets/github.yaml harness/examples/*.yaml

.PHONY: demo docs site site-serve check test test-slow test-frameworks hosts captures same-rows lint bench chaos clean help

help:  ## Say what each command does.
	@sed -n 's/^\([a-z-]*\):.*## /\1\t/p' $(MAKEFILE_LIST) | expand -t 17

demo: .venv/demo  ## Run real agents, land their spans, score them and show the report.
	@$(BIN)/python -m demo

check: .venv/demo .venv/test .venv/lint  ## Check what a change is most likely to break: style, types, layers, changed SQL and wording, tests near it.
	$(BIN)/ruff check
	$(BIN)/ruff format --check
	$(BIN)/lint-imports
	@$(CHANGED_SQL) | xargs -r $(BIN)/sqlfluff lint --disable-progress-bar
	$(BIN)/python -m tests.wording --changed
	@$(SPELLING)
	$(BIN)/mypy
	@EXAMPLES=few $(BIN)/python -m tests.quick

test: .venv/demo .venv/test  ## Run the test suite, without what is slow and without real frameworks; note what each file costs.
	@WRITE_COSTS=1 $(BIN)/pytest -q --numprocesses 4 --dist worksteal $(ENDING_HANGS) -m "not slow" $(REAL_FRAMEWORKS:%=--ignore %)

test-slow: .venv/demo .venv/test azurite .spark/complete .hosts/complete  ## Run the rest of it: whole demos, Spark, Azure, kills at more moments.
	@$(BIN)/pytest -q --numprocesses 4 --dist worksteal $(ENDING_HANGS) -m slow

test-frameworks: .venv/demo .venv/test $(TRIED_FRAMEWORKS:%=.frameworks/%/complete)  ## Run one agent on real frameworks and compare its steps.
	@$(BIN)/pytest -q --numprocesses 2 --dist loadfile $(ENDING_HANGS) $(REAL_FRAMEWORKS)

hosts: .venv/demo .venv/test .hosts/complete  ## Run host programs with and without tracegrade, and print the results.
	@$(BIN)/python -m tests.hosts

captures: .venv/demo .venv/test .frameworks/$(FRAMEWORK)/complete  ## Run all scenarios on FRAMEWORK=…, and rewrite its captures.
	@$(BIN)/python -m tests.frameworks.captures $(FRAMEWORK)

same-rows: .venv/test  ## Compare the rows that another Python makes, where OTHER_PYTHON is at hand.
	@if $(OTHER_PYTHON) --version >/dev/null 2>&1; then $(MAKE) --no-print-directory .venv-other/rows; \
	else echo "make: $(OTHER_PYTHON) is not at hand, so no rows were compared"; fi

lint: .venv/demo .venv/test .venv/lint  ## Check style, types, layers, SQL, wording, spelling and the kit.
	$(BIN)/ruff check
	$(BIN)/ruff format --check
	$(BIN)/mypy
	$(BIN)/lint-imports
	$(BIN)/sqlfluff lint --disable-progress-bar --processes 2 queries scoring harness explorer demo/sql
	$(BIN)/python -m tests.wording
	@$(SPELLING)
	@$(KIT)

docs: .venv/all  ## Write the pages of docs/ that repeat what the code says.
	@$(BIN)/python -m docgen

site: .venv/site  ## Build the site of the documents into .site; fail at a dead link or an outdated page.
	@$(BIN)/python -m docgen --check
	@$(BIN)/zensical build --strict --clean

site-serve: .venv/site  ## Show the site of the documents at http://localhost:8000.
	@$(BIN)/zensical serve

bench: .venv/demo .venv/test  ## Measure speed, side by side; prints tables.
	@for file in tests/benchmarks/bench_*.py; do \
	  $(BIN)/python -m tests.benchmarks.$$(basename $$file .py) || exit 1; done

chaos: .venv/demo .venv/test  ## Kill collectors, agents and harnesses 2,100 times, model every power cut, score 300,000 random attempts; two hours.
	@KILLS=$${KILLS:-1000} POWER_CUTS=all $(BIN)/pytest -q -s tests/collector/faults/test_kill.py tests/collector/faults/test_power_cut.py
	@GATE_KILLS=500 SANDBOX_KILLS=500 $(BIN)/pytest -q -s tests/harness/control/test_gate_kills.py tests/harness/control/test_sandbox_kills.py
	@HARNESS_KILLS=100 $(BIN)/pytest -q -s tests/harness/trial/test_killed_harness.py
	@REPEATS=24 $(BIN)/pytest -q -s tests/demo/test_repeats.py
	@EXAMPLES=many $(BIN)/pytest -q tests/harness/parts
	@EXAMPLES=many $(BIN)/pytest -q tests/scoring/scorers -k agrees_with_the_definition

clean:  ## Remove everything that these commands made.
	rm -rf .venv .venv-other .azurite .frameworks .hosts .spark .demo .peers .site dist .mypy_cache .pytest_cache .ruff_cache .hypothesis .import_linter_cache

# A stamp is made anew when what it installs changed.
.venv/all: pyproject.toml tests/constraints.txt
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' \
	  || { echo "tracegrade needs Python >= 3.11, found $$($(PYTHON) --version); set PYTHON=..."; exit 2; }
	@echo "installing tracegrade[all] into .venv ..."
	@test -x $(BIN)/python || $(PYTHON) -m venv .venv
	@$(PIP) install --upgrade --constraint tests/constraints.txt pip || $(NOT_INSTALLED)
	@$(PIP) install --constraint tests/constraints.txt --editable '.[all]' || $(NOT_INSTALLED)
	@touch $@

.venv/demo .venv/test .venv/lint .venv/site: .venv/all
	@echo "installing the $(@F) dependencies into .venv ..."
	@$(PIP) install --constraint tests/constraints.txt --group $(@F) || $(NOT_INSTALLED)
	@touch $@

# Spark is half a gigabyte and needs Java: its tests skip without this, which sees all of .venv.
.spark/complete: .venv/test
	@if ! command -v java >/dev/null; then \
	  echo "make: Java is not at hand, so tests on Spark are skipped"; \
	elif echo "installing Spark into .spark ..." && $(BIN)/python -m venv --clear .spark \
	  && .spark/bin/pip --disable-pip-version-check --quiet install --constraint tests/constraints.txt pyspark; then \
	  $(BIN)/python -c 'import sysconfig; print("import site; site.addsitedir(%r)" % sysconfig.get_path("purelib"))' \
	    > "$$(.spark/bin/python -c 'import sysconfig; print(sysconfig.get_path("purelib"))')/tests.pth" && touch $@; \
	else echo "make: Spark could not be installed, see above, so tests on Spark are skipped" >&2; fi

# What host programs run on beside what is in .venv, all of which they see; pinned, so nothing is resolved.
.hosts/complete: tests/hosts/packages.txt .venv/test
	@echo "installing packages of host programs into .hosts ..."
	@$(BIN)/python -m venv --clear .hosts
	@if .hosts/bin/pip --disable-pip-version-check --quiet install --no-deps --requirement $<; then \
	  $(BIN)/python -c 'import sysconfig; print("import site; site.addsitedir(%r)" % sysconfig.get_path("purelib"))' \
	    > "$$(.hosts/bin/python -c 'import sysconfig; print(sysconfig.get_path("purelib"))')/tests.pth" && touch $@; \
	else echo "make: it could not be installed, see above, so some host programs are skipped" >&2; fi

.venv-other/test: pyproject.toml tests/constraints.txt
	@echo "installing tracegrade[all] and its tests into .venv-other ..."
	@$(OTHER_PYTHON) -m venv --clear .venv-other
	@.venv-other/bin/pip --disable-pip-version-check --quiet install --upgrade --constraint tests/constraints.txt pip \
	  || $(NOT_INSTALLED)
	@.venv-other/bin/pip --disable-pip-version-check --quiet install --constraint tests/constraints.txt --editable '.[all]' \
	  --group test || $(NOT_INSTALLED)
	@touch $@

# An Azure server for the tests of object stores, pinned by its lock; they are skipped without it.
.PHONY: azurite
azurite:
	@if command -v npm >/dev/null; then $(MAKE) --no-print-directory .azurite/complete; \
	else echo "make: npm is not at hand, so no lake on Azure is tested"; fi

.azurite/complete: tests/lake/azurite/package.json tests/lake/azurite/package-lock.json
	@echo "installing azurite into .azurite ..."
	@mkdir -p .azurite
	@cp $^ .azurite
	@if npm ci --prefix .azurite --ignore-scripts --no-audit --no-fund --loglevel=error; then touch $@; \
	else echo "make: azurite could not be installed, see above, so no lake on Azure is tested" >&2; fi

.PHONY: .venv-other/rows
.venv-other/rows: .venv-other/test
	@$(BIN)/python -m tests.row_digests --tau-bench > .venv-other/rows.txt
	@.venv-other/bin/python -m tests.row_digests --tau-bench | diff .venv-other/rows.txt - \
	  && echo "$$($(BIN)/python --version) and $$(.venv-other/bin/python --version) make the same rows"

# Every package of these environments is pinned, so nothing is resolved. uv is faster; where it cannot
# install, as behind an index that only pip is told of, pip does.
.frameworks/%/complete: tests/frameworks/environments/%.txt | .venv/test
	@echo "installing agent frameworks into .frameworks/$* ..."
	@$(PYTHON) -m venv --clear .frameworks/$*
	@$(BIN)/uv pip install --quiet --no-deps --python .frameworks/$*/bin/python --requirement $< 2>/dev/null \
	  || .frameworks/$*/bin/pip --disable-pip-version-check --quiet install --no-deps --requirement $< \
	  || $(NOT_INSTALLED)
	@touch $@

# Node's are pinned by their locks; programs find packages beside where they stand.
.frameworks/%/complete: tests/frameworks/environments/%/package.json tests/frameworks/environments/%/package-lock.json
	@command -v npm >/dev/null || { echo "make: $* needs Node and npm, which are not at hand" >&2; exit 2; }
	@echo "installing agent frameworks into .frameworks/$* ..."
	@mkdir -p .frameworks/$*
	@cp $^ .frameworks/$*
	@npm ci --prefix .frameworks/$* --ignore-scripts --no-audit --no-fund --loglevel=error || $(NOT_INSTALLED)
	@ln -sfn ../../tests/frameworks/programs ../../tests/frameworks/scenarios.json .frameworks/$*
	@touch $@

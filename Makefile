# Every target builds or reuses .venv inside this checkout; only Python 3.11+ and make are needed.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
PEERS := .venv-peers

# Images often forbid Python to keep what it has compiled; here hundreds of processes would compile the library again.
unexport PYTHONDONTWRITEBYTECODE

.PHONY: demo test test-full test-plain lint warm warm-tests bench bench-peers performance derive docs figures wheel clean

demo: $(VENV)/.base
	$(BIN)/voful demo --out out/demo

# Kernels first: two workers of the tests would compile the same ones, each for itself. The type checker takes one core meanwhile.
test test-full: $(VENV)/.dev
	$(MAKE) --no-print-directory --jobs 2 lint warm-tests
	$(BIN)/python -m pytest -n 2 --dist worksteal $(if $(filter test-full,$@),--full)

warm: $(VENV)/.base
	$(BIN)/voful warm --studies

# And what tests call beyond that.
warm-tests: warm $(VENV)/.dev
	$(BIN)/python tests/kernels.py

# Every algorithm in plain Python, as a debugger sees it.
test-plain: $(VENV)/.dev
	NUMBA_DISABLE_JIT=1 $(BIN)/python -m pytest -n 2 --dist worksteal tests/conformance

lint: $(VENV)/.dev
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports

# CPU time counts every thread of a matrix product.
bench bench-peers performance: export OPENBLAS_NUM_THREADS = 1

bench: $(VENV)/.base
	$(BIN)/voful bench

# Every number and table of docs/performance.md.
performance: $(VENV)/.base $(PEERS)/.peers
	mkdir -p out
	$(PEERS)/bin/python benchmarks/peers.py --json out/peers.json
	$(BIN)/python benchmarks/performance.py take peers out/peers.json
	$(BIN)/python benchmarks/performance.py measure

# Other libraries, in an environment of their own.
bench-peers: $(PEERS)/.peers
	$(PEERS)/bin/python benchmarks/peers.py

# Stubs for type checkers, from src/voful/algorithms.csv.
derive: $(VENV)/.base
	$(BIN)/python tools/derive.py

# The site in site/, with the tutorials' figures; then what can be asked of it, in a browser too.
# Kernels first: the tutorials' times are tested.
docs: $(VENV)/.dev
	$(BIN)/voful warm --studies oful betoful certified voful varlin ucrl-vtr
	$(BIN)/python -m sphinx --builder html --fail-on-warning --keep-going --quiet docs site
	$(BIN)/python -m pytest tests/site --site site

STUDIES := appendix_b variance jun_kim bandit_family bandit_family_tuned horizon_free \
  mixture_episodes mdp_family riverswim constant_risk drift real

# Every figure of the docs, from scratch.
figures: $(VENV)/.dev
	$(BIN)/python docs/figures.py
	$(BIN)/voful demo --rounds 5000 --replicates 10 --no-open --out out/demo
	set -e; for study in $(STUDIES); do \
	  $(BIN)/voful run studies/$$study.toml; $(BIN)/voful report out/$$study; \
	done
	cp out/demo/regret.svg docs/figures/demo.svg
	cp out/demo/theatre.svg docs/figures/theatre.svg
	cp out/appendix_b/regret.svg docs/figures/appendix_b.svg
	cp out/variance/variance.svg docs/figures/variance.svg
	cp out/jun_kim/regret.svg docs/figures/jun_kim.svg
	cp out/bandit_family/grid.svg docs/figures/bandit_family.svg
	cp out/bandit_family_tuned/grid.svg docs/figures/bandit_family_tuned.svg
	cp out/horizon_free/horizon.svg docs/figures/horizon.svg
	cp out/mixture_episodes/regret.svg docs/figures/mixture_episodes.svg
	cp out/mdp_family/horizon.svg docs/figures/mdp_family.svg
	cp out/riverswim/final.svg docs/figures/riverswim.svg
	$(BIN)/python studies/constant_risk.py out/constant_risk docs/figures/constant_risk
	$(BIN)/python studies/drift.py out/drift docs/figures/drift
	cp out/real/regret.svg docs/figures/real.svg

# Builds, and installs the wheel into an empty environment of every Python 3.11 to 3.13 that is here.
wheel: $(VENV)/.dev
	rm -rf dist
	$(BIN)/python -m build --outdir dist .
	$(BIN)/python tools/check_wheel.py dist/voful-*.whl

clean:
	rm -rf $(VENV) $(PEERS) build dist site docs/tutorials docs/reference/api out .pytest_cache .hypothesis .mypy_cache .ruff_cache
	find src -name '*.nb[ic]' -delete

# What is imported is compiled then; most of what is installed never is.
$(VENV)/.base: pyproject.toml
	test -x $(BIN)/python || $(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --no-compile --quiet --disable-pip-version-check --editable .
	touch $@

$(VENV)/.dev: $(VENV)/.base
	$(BIN)/python -m pip install --no-compile --quiet --disable-pip-version-check --editable '.[dev,docs,ray]'
	touch $@

$(PEERS)/.peers: pyproject.toml benchmarks/peers-requirements.txt
	test -x $(PEERS)/bin/python || $(PYTHON) -m venv $(PEERS)
	$(PEERS)/bin/python -m pip install --quiet --disable-pip-version-check --editable . --requirement benchmarks/peers-requirements.txt
	touch $@

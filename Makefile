# make demo    a simulated fabric that lives, watched by the real service: page, API and metrics
#              (DEMO_ARGS=--once checks it once and ends)
# make test    every test, real daemons included where root may install them
# make quick   in a minute, without daemons: all parsers and rules, and the tests of what you changed
# make soak    every test five times, also beside other work and with many more examples (an hour)
# make lab     a small fabric of real daemons and cables on this machine, to break and to check (root)
# make bench   accuracy and speed, measured again and written to docs/
# make check   all that the CI checks: format, lint, types, layers, tests, generated files
# Each works as the first command after a clone; set-up happens once.

.DEFAULT_GOAL := help
.DELETE_ON_ERROR:
PY := .venv/bin/python
CODE := truerail collector rules dashboards deploy tests docs benchmarks
PYTEST = $(PY) -m pytest -n 6 --dist loadfile --no-loadscope-reorder --max-worker-restart=0 $(if $(CI),--randomly-seed=1)
DEMO_ARGS ?=
LAB_ARGS ?=
TEST_ARGS ?=

# Tests start truerail hundreds of times: it is compiled once. None of them needs threads of OpenBLAS, which spin.
unexport PYTHONDONTWRITEBYTECODE
test quick soak: export OPENBLAS_NUM_THREADS = 1

.PHONY: help setup daemons compiled demo lab test quick soak check format docs bench wheel chart clean

help:
	@sed -n 's/^# make /make /p' Makefile

.venv/.run: requirements/run.txt requirements/build.txt requirements/setup.sh pyproject.toml
	@sh requirements/setup.sh run
	@touch $@

.venv/.dev: requirements/dev.txt requirements/setup.sh pyproject.toml
	@sh requirements/setup.sh dev
	@touch $@ .venv/.run

.venv/.deploy: requirements/deploy.txt requirements/package.json requirements/setup.sh
	@sh requirements/setup.sh deploy
	@touch $@

.venv/.bench: .venv/.dev requirements/bench.txt
	@sh requirements/setup.sh bench
	@touch $@

setup: .venv/.dev

demo: .venv/.run
	@.venv/bin/truerail demo $(DEMO_ARGS)

daemons:
	@sh requirements/setup.sh daemons

# Once, before each worker of the tests would do so, and while the daemons are fetched: modules are compiled, and
# Hypothesis has read the constants of all of them, which it does with the first property test.
compiled: .venv/.dev
	@$(PY) -m compileall -q truerail collector rules dashboards benchmarks
	@$(PY) -m pytest -q -k test_service_events >/dev/null 2>&1 || true

test:
	@sh requirements/setup.sh environment
	@$(MAKE) --no-print-directory -j3 .venv/.deploy daemons compiled
	@$(PYTEST) $(or $(TEST_ARGS),--cov --cov-report=term --cov-fail-under=100)

quick: .venv/.dev
	@$(PYTEST) $$($(PY) -m tests.quick)

soak: .venv/.dev
	@$(PY) -m tests.soak

check: .venv/.dev
	$(PY) -m ruff format --check $(CODE)
	$(PY) -m ruff check $(CODE)
	$(PY) -m mypy
	.venv/bin/lint-imports
	$(MAKE) --no-print-directory test
	$(MAKE) --no-print-directory docs
	git diff --exit-code

format: .venv/.dev
	$(PY) -m ruff format $(CODE)
	$(PY) -m ruff check --fix $(CODE)

lab: .venv/.dev
	@sh requirements/setup.sh daemons
	@$(PY) -m tests.lab up $(LAB_ARGS)

docs: .venv/.dev
	$(PY) docs/catalogues.py
	$(PY) -m dashboards.generate
	PYTHONPATH=. $(PY) deploy/restricted.py
	$(PY) -m benchmarks.structure --lower

bench: .venv/.dev .venv/.bench
	$(PY) -m benchmarks.accuracy.measure --write benchmarks/results/accuracy.md
	$(PY) -m benchmarks.accuracy.witnesses --write benchmarks/results/accuracy.md
	$(PY) -m benchmarks.accuracy.newer --write benchmarks/results/accuracy.md
	$(PY) -m benchmarks.accuracy.lists --write benchmarks/results/accuracy.md
	$(PY) -m benchmarks.degradation.measure --write benchmarks/results/accuracy.md
	$(PY) -m benchmarks.nccl.measure --write benchmarks/results/nccl-accuracy.md
	$(PY) -m benchmarks.speed.measure --write benchmarks/results/performance.md
	@sh requirements/setup.sh daemons
	$(PY) -m benchmarks.transport.measure --write benchmarks/results/live-performance.md
	$(PY) -m benchmarks.service.measure --write benchmarks/results/service-performance.md
	$(PY) -m benchmarks.service.metrics --write benchmarks/results/metrics-performance.md
	$(PY) -m benchmarks.speed.journal --write benchmarks/results/journal-performance.md
	$(PY) -m benchmarks.speed.jobs --write benchmarks/results/jobs-performance.md
	$(PY) -m benchmarks.service.gate --write benchmarks/results/jobs-performance.md
	$(PY) -m benchmarks.speed.history --write benchmarks/results/history-performance.md
	$(PY) -m benchmarks.history.questions --write benchmarks/results/history-questions.md
	$(PY) -m benchmarks.service.page --write benchmarks/results/page-performance.md
	$(PY) -m benchmarks.service.questions --write benchmarks/results/oncall-questions.md
	$(PY) -m benchmarks.telemetry.measure --write benchmarks/results/telemetry-accuracy.md
	$(PY) -m benchmarks.polarization.measure --trials 9000 --write benchmarks/results/polarization-accuracy.md
	$(PY) -m benchmarks.probe.measure --write benchmarks/results/probe-accuracy.md
	$(PY) -m benchmarks.probe.cost --write benchmarks/results/probe-accuracy.md
	$(PY) -m benchmarks.speed.counters --write benchmarks/results/telemetry-performance.md
	$(PY) -m benchmarks.speed.messages --write benchmarks/results/messages-performance.md
	$(PY) -m benchmarks.fleet.bus --write benchmarks/results/bus-performance.md
	$(PY) -m benchmarks.speed.pack --write benchmarks/results/pack-performance.md

wheel: .venv/.dev
	$(PY) -m build --wheel --no-isolation

chart: .venv/.deploy
	.venv-deploy/bin/helm package deploy/helm/truerail --destination dist

clean:
	rm -rf dist build truerail-demo .coverage .pytest_cache .mypy_cache .ruff_cache .hypothesis .import_linter_cache
	find collector rules tests truerail docs -name __pycache__ -type d -prune -exec rm -rf {} +

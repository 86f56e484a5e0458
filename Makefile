# Every target is one line that you could have typed. `make dataset` and `make test` need nothing but Python 3.11+ and make.
.DEFAULT_GOAL := help
.PHONY: help dataset test check bench compare publish quotas lock clean

VENV := .venv
BIN := $(VENV)/bin
OUT ?= dist
TRANSCRIPTS ?=
# A log of your own starts from the defaults; the sample from its settings file.
CONFIG ?= $(if $(TRANSCRIPTS),,data/dataset.toml)
LABELS ?=

help: ## Show this list
	@grep -hE '^[a-z]+:.*## ' $(MAKEFILE_LIST) | sed -E 's/:.*## /\t/' | expand -t 12

$(VENV)/.installed: pyproject.toml constraints.txt
	@sh .ci/install $(VENV)
	@touch $@

dataset: $(VENV)/.installed ## Build a release: the Halyard sample, or TRANSCRIPTS=path (LABELS=none ignores the sample's labels)
	@$(BIN)/followups build $(if $(CONFIG),--config $(CONFIG)) --out $(OUT) $(if $(TRANSCRIPTS),--transcripts $(TRANSCRIPTS)) $(if $(LABELS),--labels $(LABELS))

test: $(VENV)/.installed ## Run all tests
	@$(BIN)/python -m pytest -n auto

check: $(VENV)/.installed ## Format, lint, types and the architecture test
	@$(BIN)/ruff format --check builder tests bench
	@$(BIN)/ruff check builder tests bench
	@$(BIN)/mypy
	@$(BIN)/python -m pytest tests/test_architecture.py

bench: $(VENV)/.installed ## Print speed and memory as ratios to a plain loop in the same run
	@$(BIN)/python -m bench

compare: $(VENV)/.installed ## Scope designs and offline rewriters side by side on the newest release
	@$(BIN)/followups compare $(OUT) --config $(CONFIG) --out $(OUT)/compare

publish: $(VENV)/.installed ## Publish the newest release: REPO=org/name, DRY_RUN=1 to look first
	@$(BIN)/followups publish $(OUT) $(if $(REPO),--repo $(REPO)) $(if $(DRY_RUN),--dry-run)

quotas: $(VENV)/.installed ## Check a new log against the newest release's quotas: TRANSCRIPTS=path
	@$(BIN)/followups quotas check $(if $(CONFIG),--config $(CONFIG)) --out $(OUT) $(if $(TRANSCRIPTS),--transcripts $(TRANSCRIPTS))

lock: ## Write constraints.txt anew (needs uv)
	@uv pip compile pyproject.toml --extra dev --universal --python-version 3.11 --generate-hashes --no-annotate --no-header --no-emit-index-url -o constraints.txt --quiet

clean: ## Remove what was built
	@rm -rf $(OUT) .followups build *.egg-info .pytest_cache .mypy_cache .ruff_cache .hypothesis

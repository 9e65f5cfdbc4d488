# The whole workflow. `make test` and `make demo` set up everything they need, once.

BIN := .venv/bin
INSTALLED := .venv/installed

.DEFAULT_GOAL := help
.PHONY: help test demo format clean

help: ## list the targets
	@awk -F ':.*## ' '/^[a-z]+:.*## / { printf "make %-8s %s\n", $$1, $$2 }' Makefile

test: $(INSTALLED) ## check style, types and import directions, then run every test
	@echo "» style"
	@$(BIN)/ruff check --quiet
	@echo "» format"
	@$(BIN)/ruff format --check --quiet || { echo "run 'make format'"; exit 1; }
	@echo "» types"
	@$(BIN)/mypy
	@echo "» import directions"
	@$(BIN)/lint-imports --no-logo
	@echo "» tests"
	@JAVA_HOME="$$(scripts/java)" $(BIN)/pytest -n 2

demo: $(INSTALLED) ## a day in the Active Office, detected live on an embedded Spark
	@echo "» the Active Office"
	@mkdir -p build
	@JAVA_HOME="$$(scripts/java)" $(BIN)/penstock demo office --picture build/office.svg

format: $(INSTALLED) ## rewrite the code in the project's style
	@echo "» format"
	@$(BIN)/ruff check --quiet --fix || true
	@$(BIN)/ruff format --quiet

clean: ## remove the environment and everything built
	@echo "» clean"
	@rm -rf .venv build dist src/*.egg-info .hypothesis .mypy_cache .ruff_cache .pytest_cache .import_linter_cache
	@find src tests -name __pycache__ -type d -prune -exec rm -rf {} +

$(INSTALLED): pyproject.toml scripts/install
	@scripts/install
	@touch $@

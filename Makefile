# urlmill: make help lists what there is.

GO ?= go
BIN := bin
LINT_VERSION := v2.15.0
TOOLS := $(CURDIR)/$(BIN)/tools

.DEFAULT_GOAL := help

.PHONY: help
help: ## list the targets
	@awk -F ':.*## ' '/^[a-z0-9-]+:.*## / { printf "  make %-14s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)

.PHONY: demo
demo: ## a million clickstream records from a Kafka broker in this process into Parquet
	@$(GO) run ./cmd/urlmill demo

.PHONY: test
test: ## all tests that need nothing but Go
	$(GO) test ./...

.PHONY: build
build: ## bin/urlmill, static
	CGO_ENABLED=0 $(GO) build -trimpath -o $(BIN)/urlmill ./cmd/urlmill

.PHONY: integration
integration: ## what we write, read back by DuckDB and pyarrow (C compiler, python3), and the deployment files
	cd internal/itest && $(GO) test ./...

.PHONY: race
race: ## all tests under the race detector
	$(GO) test -race ./...

.PHONY: lint
lint: $(TOOLS)/golangci-lint ## golangci-lint with the import rules, go vet, tidy modules
	$(TOOLS)/golangci-lint run ./...
	cd internal/itest && $(TOOLS)/golangci-lint run --config ../../.golangci.yml ./...
	$(GO) vet ./...
	$(GO) mod tidy -diff
	cd internal/itest && $(GO) mod tidy -diff

$(TOOLS)/golangci-lint: Makefile
	GOBIN=$(TOOLS) $(GO) install github.com/golangci/golangci-lint/v2/cmd/golangci-lint@$(LINT_VERSION)
	@touch $@

.PHONY: fuzz
fuzz: ## every fuzz target for FUZZTIME (default 10s)
	@set -e; for pkg in $$($(GO) list ./...); do \
	  for f in $$($(GO) test -list '^Fuzz' $$pkg | grep '^Fuzz' || true); do \
	    echo "== $$pkg $$f"; $(GO) test -run '^$$' -fuzz "^$$f$$" -fuzztime $${FUZZTIME:-10s} $$pkg; \
	  done; done

.PHONY: cover
cover: ## statement coverage of urlcore
	$(GO) test -coverprofile=coverage.out -coverpkg=./urlcore/... ./urlcore/...
	$(GO) tool cover -func=coverage.out | tail -1

.PHONY: bench
bench: ## Go benchmarks of every package
	$(GO) test -run '^$$' -bench . -benchmem ./...

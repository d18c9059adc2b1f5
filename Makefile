# The verbs of this project. "make help" lists them.

SHELL := /bin/bash
.SHELLFLAGS := -eu -o pipefail -c
.DEFAULT_GOAL := help

GO       ?= go
LINT     := $(GO) tool -modfile=tools/go.mod golangci-lint
ENGINE   := runtime/wasm/engine
PEERS    := test/npm
HOSTS    := test/mcp
BROWSER  := test/web
PACKAGES ?= ./...
# The race detector needs a C compiler; CI sets RACE=-race.
RACE     ?=

.PHONY: help
help: ## list the verbs
	@awk -F':.*## ' '/^[a-z-]+:.*## /{printf "  %-14s %s\n", $$1, $$2}' $(MAKEFILE_LIST)

.PHONY: engine
engine: $(ENGINE)/module/engine.wasm ## make the embedded JavaScript engine from its npm package

$(ENGINE)/module/engine.wasm: $(ENGINE)/package-lock.json $(wildcard $(ENGINE)/patch/*.go)
	npm ci --prefix $(ENGINE) --ignore-scripts --no-audit --no-fund --loglevel=error
	$(GO) run ./$(ENGINE)/patch

%/node_modules/.package-lock.json: %/package-lock.json
	npm ci --prefix $* --ignore-scripts --no-audit --no-fund --loglevel=error

.PHONY: deps
deps: engine $(PEERS)/node_modules/.package-lock.json $(HOSTS)/node_modules/.package-lock.json $(BROWSER)/node_modules/.package-lock.json ## install what the tests talk to

.PHONY: build
build: engine ## build bin/airlock
	CGO_ENABLED=0 $(GO) build -trimpath -ldflags "-s -w" -o bin/airlock ./cmd/airlock

.PHONY: cross
cross: engine ## see that airlock builds for other systems
	for system in darwin windows; do GOOS=$$system CGO_ENABLED=0 $(GO) build ./...; done

.PHONY: run
run: build ## build airlock and serve on http://localhost:3000
	bin/airlock serve

.PHONY: sandbox-base
sandbox-base: ## make the sandbox's base image where no image registry is reachable
	scripts/sandbox-base.sh

.PHONY: sandbox-image
sandbox-image: ## build the image of the docker sandbox
	scripts/sandbox-image.sh

.PHONY: image
image: build ## build airlock's own image, and try it
	scripts/airlock-image.sh

.PHONY: test
test: deps ## run every test
	$(GO) test -timeout 15m $(RACE) $(PACKAGES)
	@command -v chromium chromium-browser google-chrome >/dev/null || echo "skipped: tests of the web page in a browser, for which apt-get install chromium, or set CHROMIUM to its program"
	@docker image inspect airlock-sandbox:latest >/dev/null 2>&1 || echo "skipped: tests of the docker sandbox, for which scripts/docker-engine.sh starts an engine and make sandbox-base sandbox-image makes the image"
	@$(GO) test -count=1 -v -run 'TestSyntheticSentences|TestRecognizerCases|TestPackCases' ./pii/detect | grep -vE '^(=== |--- |PASS)'

.PHONY: conformance
conformance: deps ## run MCP's own suite in full and write docs/CONFORMANCE.md (RUNS=50)
	$(GO) test ./orchestrator/mcpserver -count=1 -timeout 20m -run TestConformance -conformance-runs $${RUNS:-50} -update-conformance
	$(GO) test ./test/conformance -count=1 -timeout 20m -conformance-all -update-conformance

.PHONY: screenshots
screenshots: deps ## take the pictures of the README anew
	AIRLOCK_SCREENSHOTS=$(CURDIR)/docs/images $(GO) test -count=1 -run TestScreenshots ./cmd/airlock

.PHONY: security-table
security-table: ## write the table of docs/SECURITY.md anew
	$(GO) test ./runtime/sandbox/sandboxtest -run TestTheDocumentHasTheTable -update

.PHONY: lint
lint: ## vet and lint
	$(GO) vet ./...
	$(LINT) run --allow-parallel-runners ./...

.PHONY: check
check: build lint ## build, lint, format and tidy; fails on any difference that makes
	$(LINT) fmt ./...
	$(GO) mod tidy
	git diff --exit-code

.PHONY: bench
bench: deps ## measure, side by side in one run
	@$(GO) test -count=1 -v -run TestContextCost ./test/contextcost | grep -vE '^(=== |--- |PASS)'
	$(GO) test -run '^$$' -bench 'TaskOverhead|TasksAtOnce' -benchtime 100x ./cmd/airlock
	$(GO) test -run '^$$' -bench . -benchmem -count $${COUNT:-1} $(PACKAGES)

.PHONY: servers-check
servers-check: build ## run every server of the catalog that can run here
	scripts/servers-check.sh

.PHONY: soak
soak: deps ## fuzz for long (FUZZTIME=10m), kill a server under load (KILLS=200), and one of two at a cluster (TASKS=500)
	scripts/soak.sh $${FUZZTIME:-10m}

.PHONY: clean
clean: ## remove what was built
	rm -rf bin $(ENGINE)/node_modules $(ENGINE)/module/engine.wasm $(PEERS)/node_modules $(HOSTS)/node_modules $(BROWSER)/node_modules

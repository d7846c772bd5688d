# What people and CI run. Every target says what it needs; `make` lists them.
SHELL := /bin/bash
GO ?= go
N ?= 300
# Conformance runs this many checks at once.
export SBX_CONFORMANCE_PARALLEL ?= 4
# Flags of go test. CI gives -p 1: packages that drive one engine, or watch this
# machine's mounts and processes, do not get in each other's way.
TESTFLAGS ?=
AS_OF ?= $(shell git show -s --format=%cI HEAD)

.PHONY: help demo reproduce test race vet staticcheck generate check validate cross ci torture bench bench-peers build

help: ## list the targets
	@grep -hE '^[a-z-]+:.*##' $(MAKEFILE_LIST) | sed -E 's/:.*## /\t/' | expand -t 16

demo: ## the whole story on this machine, in a throw-away module (Go and git)
	@scripts/demo.sh

test: ## every test that can run here (Go; Docker, bwrap, tmux... are used when present)
	$(GO) test $(TESTFLAGS) ./...

race: ## the same under the race detector (a C compiler)
	$(GO) test -race ./...

vet: ## go vet
	$(GO) vet ./...

staticcheck: ## staticcheck, pinned in go.mod
	$(GO) tool staticcheck ./...

build: ## the two commands, into bin/
	$(GO) build -o bin/ ./cmd/sbxgen ./cmd/sbx

generate: ## write generated files; works when generated/ does not compile
	$(GO) run ./internal/gen/bootstrap
	$(GO) run ./cmd/sbxgen generate

check: ## generated files are current
	$(GO) run ./cmd/sbxgen generate --check

validate: ## manifests, catalog, adapters and secrets, as of the last commit
	$(GO) run ./cmd/sbxgen validate --types --deep $(if $(AS_OF),--as-of "$(AS_OF)")

cross: ## everything compiles for macOS and Windows
	GOOS=darwin GOARCH=arm64 $(GO) build ./...
	GOOS=windows GOARCH=amd64 $(GO) build ./...

ci: test vet staticcheck check validate cross ## what CI runs

torture: ## kill sbx at N random moments and every ledger record, then reap (Docker)
	$(GO) test ./internal/torture -count=1 -timeout 60m -run TestTorture -v -args -n $(N)

reproduce: ## run the kept evidence of local, docker and gvisor again and compare the verdicts (Docker, runsc)
	@for p in local docker gvisor; do $(GO) run ./cmd/sbxgen evidence reproduce $$p || exit 1; done

bench: ## Go benchmarks of the generator, the validator, the ledger and the parsers
	$(GO) test -run '^$$' -bench . -benchmem ./internal/... ./ledger ./wire

bench-peers: ## the speed goals as ratios to other programs, measured in one run
	@scripts/bench-peers.sh

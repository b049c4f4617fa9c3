# Everything that is tested, one target a kind. `make check` runs them in order and stops at the first failure.

SHELL := /bin/bash
.SHELLFLAGS := -euo pipefail -c
.NOTPARALLEL:
.DEFAULT_GOAL := help

GO ?= go
MACHINE := $(shell uname -m)
STARTED := $(shell date +%s)
VM_DIR ?= $(CURDIR)/build/vm
PURE := CGO_ENABLED=0
# The virtual machine has a step of its own; a failing go list leaves nothing to test, which go test refuses.
PACKAGES = $$($(GO) list ./... | grep -v '/internal/vmtest$$')

heading = @printf '\n== %s\n' '$(1)'

CHECKS := deps fmt vet staticcheck vulncheck build verify test race emulated asm bench arm64 vm

FUZZTIME ?= 1m
SOAK ?= 10000
SEED ?= 1

.PHONY: help check fuzz soak $(CHECKS)

help: ## list the targets
	@awk -F ':.*## ' '/^[a-z0-9-]+:.*## / { printf "  make %-12s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)

check: $(CHECKS) ## everything below, in order; stops at the first failure
	@printf '\n== make check: every step passed, in %d s\n' $$(( $$(date +%s) - $(STARTED) ))

deps: ## install what the checks need (as root), or say what to install
	$(call heading,deps: what the checks need beyond Go)
	@scripts/deps.sh

fmt: ## gofmt
	$(call heading,fmt: gofmt -l)
	@files=$$(git ls-files --cached --others --exclude-standard '*.go' | xargs -r ls -d 2>/dev/null | xargs -r gofmt -l); \
	if [ -n "$$files" ]; then printf 'not formatted, run gofmt -w on:\n%s\n' "$$files"; exit 1; fi

vet: ## go vet for amd64 and arm64
	$(call heading,vet: go vet$(comma) linux/amd64 and linux/arm64)
	$(PURE) GOARCH=amd64 $(GO) vet ./...
	$(PURE) GOARCH=arm64 $(GO) vet ./...

staticcheck: ## staticcheck
	$(call heading,staticcheck)
	$(PURE) $(GO) tool staticcheck ./...

vulncheck: ## govulncheck; says so when the vulnerability database cannot be reached
	$(call heading,vulncheck: govulncheck)
	@scripts/vulncheck.sh

build: ## build for linux/amd64 and linux/arm64 without cgo
	$(call heading,build: CGO_ENABLED=0$(comma) linux/amd64 and linux/arm64)
	$(PURE) GOOS=linux GOARCH=amd64 $(GO) build ./...
	$(PURE) GOOS=linux GOARCH=arm64 $(GO) build ./...

verify: ## go mod verify
	$(call heading,verify: go mod verify)
	$(GO) mod verify

test: ## go test of the whole tree without cgo, in random order
	$(call heading,test: go test$(comma) CGO_ENABLED=0)
	$(PURE) $(GO) test -shuffle=on $(PACKAGES)

race: ## the same under the race detector, without the tests that mostly wait
	$(call heading,race: go test -race -short)
	GORACE=atexit_sleep_ms=0 CGO_ENABLED=1 $(GO) test -race -short -shuffle=on $(PACKAGES)

emulated: ## the CUDA packages against the emulated driver, where nothing may be skipped
	$(call heading,emulated: the CUDA packages$(comma) no skips)
	GPUSHARE_NO_SKIP=1 $(PURE) $(GO) test -count=1 $$($(GO) list ./... | grep -E '/(cuda|nvml|gpu)(/|$$)')

asm: ## the assembly with the optimiser off
	$(call heading,asm: with the optimiser off)
	$(PURE) $(GO) test -count=1 -gcflags='all=-N -l' ./internal/dl ./cuda

bench: ## compile every benchmark and run it once
	$(call heading,bench: every benchmark$(comma) one iteration)
	$(PURE) $(GO) test -run '^$$' -bench . -benchtime 1x $(PACKAGES)

arm64: ## the arm64 assembly under qemu-user
	$(call heading,arm64: under qemu-user)
ifeq ($(MACHINE),x86_64)
	scripts/test-arm64.sh
else
	@echo 'NOT RUN: this machine is $(MACHINE); make test has run here what this step would emulate on x86-64'
endif

vm: ## the tool on a real kernel with real dma-buf, in qemu; nothing may be skipped
	$(call heading,vm: real dma-buf on a real kernel in qemu$(comma) no skips)
ifeq ($(MACHINE),x86_64)
	scripts/vm-kernel.sh $(VM_DIR)
	GPUSHARE_NO_SKIP=1 GPUSHARE_VM_DIR=$(VM_DIR) $(PURE) $(GO) test -count=1 -timeout 15m -v ./internal/vmtest
else
	@echo 'NOT RUN: the virtual machine is x86-64 and takes its C library from this machine, which is $(MACHINE)'
endif

fuzz: ## every fuzz target for FUZZTIME each (1m); no part of check, which runs their seeds
	$(call heading,fuzz: $(FUZZTIME) a target)
	scripts/fuzz.sh $(FUZZTIME)

soak: ## SOAK (10000) cycles on an emulated GPU machine with random faults, seed SEED (1); no part of check, which runs 200
	$(call heading,soak: $(SOAK) cycles with random faults)
	cd internal/soak && GPUSHARE_SOAK=$(SOAK) GPUSHARE_SOAK_SEED=$(SEED) $(PURE) $(GO) test -count=1 -timeout 2h -v .

comma := ,

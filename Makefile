# make build       the programs and the links of the commands, in bin/
# make demo        builds, starts a cluster, runs the examples on it, stops it
# make test        vet and all tests that need no more than Go and a C compiler
# make test-full   those, the slow ones and the race detector
# make conformance the black-box suite, as root, on a cluster of its own
# make bench       measures a cluster of three controllers and four nodes
# make bench-packages  the benchmarks of the packages
# make chaos-selftest  faults planted in the programs, which the attacks of test/chaos must find; minutes
# make lint        formatting, vet, generated files
# make generate    the generated files

BIN     ?= bin
GO      ?= go
VERSION ?= $(shell git describe --tags --always --dirty 2>/dev/null || echo unknown)
LDFLAGS := -s -w -X main.version=$(VERSION)
CONFORMANCE_DIR ?= ../shared/conformance

# Every command that Slurm has; only those that muster-cmds knows get a link.
COMMANDS := sacct sacctmgr salloc sattach sbatch sbcast scancel scontrol scrontab \
            sdiag seff sinfo sprio squeue sreport sshare srun sstat strigger

.PHONY: chaos-selftest build demo test test-full conformance lint generate bench bench-packages clean

build:
	@mkdir -p $(BIN)
	CGO_ENABLED=0 $(GO) build -trimpath -ldflags '$(LDFLAGS)' -o $(BIN)/ ./cmd/muster ./cmd/musterd ./cmd/muster-shepherd
	CGO_ENABLED=0 $(GO) build -trimpath -ldflags '$(LDFLAGS)' -o $(BIN)/muster-cmds ./cmd/slurm
	@for c in $(COMMANDS); do \
		rm -f $(BIN)/$$c; \
		if $(BIN)/muster-cmds $$c --version >/dev/null 2>&1; then ln -s muster-cmds $(BIN)/$$c; fi; \
	done

demo: build
	BIN=$(abspath $(BIN)) examples/demo.sh

test: build
	$(GO) vet ./...
	MUSTER_BIN=$(abspath $(BIN)) $(GO) run ./test/summary -timeout 10m ./...

test-full: build
	$(GO) vet ./...
	MUSTER_BIN=$(abspath $(BIN)) MUSTER_FULL=1 SURVIVE_JOBS=10000 $(GO) run ./test/summary -timeout 60m ./...
	$(GO) run ./test/summary -race -short -timeout 60m ./accounting/... ./api/... ./conf ./ctld/... ./gres ./internal/... ./job ./noded/... ./partition ./sched/... ./state

conformance: build
	BIN=$(abspath $(BIN)) CONFORMANCE_DIR=$(abspath $(CONFORMANCE_DIR)) test/conformance/run.sh

bench: build
	BIN=$(abspath $(BIN)) GO=$(GO) test/bench/run.sh $(BENCH_FLAGS)

bench-packages:
	$(GO) test -run '^$$' -bench . -benchmem ./...

lint:
	@out=$$(gofmt -l $$(git ls-files '*.go')); if [ -n "$$out" ]; then echo "not formatted (run gofmt -w):"; echo "$$out"; exit 1; fi
	$(GO) vet ./...
	$(GO) test -run '^(TestReference|TestCompatibility|TestRecordedLogsGiveTheirHash)$$' ./conf ./cmd/slurm ./state

# The protobuf code needs protoc, protoc-gen-go and protoc-gen-go-grpc.
chaos-selftest: build
	MUSTER_FULL=1 MUSTER_BIN=$(abspath $(BIN)) $(GO) test -v -count=1 -timeout 60m -run 'Planted|NormalBuilds' ./test/chaos

generate:
	MUSTER_GENERATE=1 $(GO) test -count=1 -run '^(TestReference|TestCompatibility|TestRecordedLogsGiveTheirHash)$$' ./conf ./cmd/slurm ./state
	@if command -v protoc >/dev/null; then \
		protoc --go_out=. --go_opt=paths=source_relative --go-grpc_out=. --go-grpc_opt=paths=source_relative api/pb/muster.proto; \
	else echo "protoc is not installed: api/pb is left as it is"; fi

clean:
	rm -rf $(BIN)

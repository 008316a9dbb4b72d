# make run    install what is missing, build, and run the demonstration
# make test   run all tests in both builds, and some with the race detector
# make race   run them with the race detector; test-plain and test-arm64 on other processors
# make lint   gofmt, go vet, staticcheck
# make bench  time the kernels, and other programs beside this one
# make release   archives for Linux, macOS and Windows

GO ?= go
# TESTFLAGS are added to every go test, as in TESTFLAGS=-v.
TEST = $(GO) test $(TESTFLAGS)
DEMO = docs/experiments/demo.yaml

# The tags of the build with OpenBLAS and OpenCV.
NATIVE = native,opencv

# Without -trimpath the program would hold the paths of the folder it was built
# in. The revision is stamped into it where git can tell it.
VCS := $(shell git status --porcelain >/dev/null 2>&1 && echo auto || echo false)
BUILD = $(GO) build -trimpath -buildvcs=$(VCS)

.PHONY: run test test-native test-portable test-race test-plain test-arm64 race lint native portable deps fuzz torture bench clean vulncheck release sbom reproducible reproducible-native

run: native
	./partwise run $(DEMO)

# The native build does matrix products with OpenBLAS and finds key points with
# OpenCV. With the tag native alone it goes without OpenCV. What the linker has just
# written is mapped in large pieces, 10 MB more than of a copy.
native: deps
	CGO_ENABLED=1 $(BUILD) -tags $(NATIVE) -o partwise.linked ./cmd/partwise
	install -m 755 partwise.linked partwise
	rm partwise.linked

# The portable build needs nothing but Go.
portable:
	CGO_ENABLED=0 $(BUILD) -o partwise ./cmd/partwise

# Archives of the portable program for all systems, with their sums, into dist.
# The version is that of git describe unless VERSION says it.
release:
	CGO_ENABLED=0 $(GO) run ./internal/release -out dist $(if $(VERSION),-version $(VERSION))

# The bill of materials of the portable program, in CycloneDX.
sbom: portable
	@mkdir -p dist
	@CGO_ENABLED=0 $(GO) run ./internal/release -sbom partwise $(if $(VERSION),-version $(VERSION)) > dist/partwise.cdx.json
	@echo dist/partwise.cdx.json

# Builds the portable program, or the native one, twice in different places and
# compares the bytes.
reproducible:
	@GO=$(GO) .ci/reproducible portable
reproducible-native: deps
	@GO=$(GO) .ci/reproducible native

test: test-portable test-native test-race

# What multiplies matrices or decodes by OpenCV, which the builds do in ways of their own, and
# what uses that.
test-native: deps
	CGO_ENABLED=1 $(TEST) -tags $(NATIVE) ./internal/blas ./internal/eigen ./factor ./cluster ./eval ./vocab ./features ./pipeline/... ./report ./cmd/...

test-portable:
	CGO_ENABLED=0 $(TEST) ./...

# What runs several goroutines of its own, with what finds unsynchronised access; of
# the commands those that are stopped or meet another. Tests that take long with it and
# have no goroutines that the others have not skip themselves (testkit.Slow).
test-race:
	CGO_ENABLED=1 $(TEST) -race -short -timeout 30m ./pipeline/... ./vocab ./features ./internal/cache ./internal/parallel
	CGO_ENABLED=1 $(TEST) -race -short -timeout 30m -run 'Interrupt|ProgressInOrder|InUse' ./cmd/...

# What computes, with the loops in plain Go instead of assembly, as on a processor
# without AVX2.
NUMERIC = ./internal/simd ./internal/blas ./internal/network ./internal/eigen ./internal/sparse ./factor ./cluster ./eval ./vocab ./features
test-plain:
	GODEBUG=cpu.avx2=off CGO_ENABLED=0 $(GO) test -short -count=1 $(NUMERIC)

# The same on an emulated processor of another kind, whose fused multiplications
# round otherwise. It takes some twenty times as long.
test-arm64:
	@command -v qemu-aarch64-static >/dev/null 2>&1 || { \
	  sudo=""; [ "$$(id -u)" = 0 ] || sudo=sudo; \
	  $$sudo apt-get update -q && $$sudo env DEBIAN_FRONTEND=noninteractive apt-get install -y -q --no-install-recommends qemu-user-static; }
	GOARCH=arm64 CGO_ENABLED=0 $(GO) test -short -count=1 -timeout 60m -exec qemu-aarch64-static $(NUMERIC)

# Tests of fewer problems, with what finds unsynchronised access.
race:
	CGO_ENABLED=1 $(GO) test -race -short -count=1 -timeout 60m ./...

# Each system and each processor that releases are made for, once.
SYSTEMS = linux/arm64 darwin/arm64 windows/amd64
lint:
	@unformatted=$$(gofmt -l .); if [ -n "$$unformatted" ]; then echo "gofmt would change:" $$unformatted; exit 1; fi
	$(GO) vet ./...
	CGO_ENABLED=1 $(GO) vet -tags $(NATIVE) ./...
	$(GO) tool staticcheck ./...
	CGO_ENABLED=1 $(GO) tool staticcheck -tags $(NATIVE) ./...
	@set -e; for s in $(SYSTEMS); do echo "go vet for $$s"; \
	  CGO_ENABLED=0 GOOS=$${s%/*} GOARCH=$${s#*/} $(GO) vet -trimpath ./...; done

# Known vulnerabilities in what the program calls, where their data can be had.
vulncheck:
	@GO=$(GO) .ci/vulncheck

# What the native build needs of the system, installed where it is missing.
PACKAGES = g++ libc6-dev libopenblas-dev libopencv-features2d-dev
deps:
	@command -v dpkg >/dev/null 2>&1 || { echo "not a Debian: the native build needs a C++ compiler, OpenBLAS and OpenCV 4 with their headers; make portable needs none of them"; exit 0; }; \
	missing=""; for p in $(PACKAGES); do dpkg -s $$p >/dev/null 2>&1 || missing="$$missing $$p"; done; \
	if [ -n "$$missing" ]; then \
	  echo "installing$$missing"; \
	  sudo=""; [ "$$(id -u)" = 0 ] || sudo=sudo; \
	  $$sudo apt-get update -q && $$sudo env DEBIAN_FRONTEND=noninteractive apt-get install -y -q --no-install-recommends $$missing; \
	fi

# Each fuzz target for FUZZTIME.
FUZZTIME ?= 20s
fuzz:
	@grep -roE --include='*_test.go' '^func Fuzz[A-Za-z0-9]+' . | sed 's/func //' | sort | while IFS=: read -r file f; do \
	  $(GO) test -run NONE -fuzz "^$$f$$" -fuzztime $(FUZZTIME) "$$(dirname "$$file")" || exit 1; done

# Kills, full disks, fuzzing and more, at length; docs/reliability.md is written from
# it. TORTURE holds flags and parts, as in TORTURE='-for 1h fuzz'.
torture:
	$(GO) run ./internal/torture $(TORTURE)

# Benchmarks of the kernels, and then other programs and this one by turns, which writes
# the tables of docs/performance.md. BENCH holds flags, as in BENCH='-only fast -repeats 3'.
bench: deps
	CGO_ENABLED=1 $(GO) test -tags $(NATIVE) -run NONE -bench . ./...
	$(GO) run ./bench $(BENCH)

# Results are the user's and stay.
clean:
	rm -rf partwise partwise.linked dist

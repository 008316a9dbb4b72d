# make run    install what is missing, build, and run the demonstration: an experiment and a grouping
# make test   run all tests, and some with the race detector
# make race   run them all with the race detector; test-plain with loops in plain Go
# make lint   gofmt, go vet, staticcheck
# make docs   the documentation as a site, in dist/site
# make bench  time the kernels, and other programs beside this one
# make beam   build partwise-beam, which runs on Apache Beam; make test-beam tests it, make flink on a Flink cluster, make spark on Spark
# make release   archives, packages and a container image for Linux, macOS and Windows; release-check tries them
# make wheel     the wheel of the Python package for this machine

GO ?= go
# TESTFLAGS are added to every go test, as in TESTFLAGS=-v. make lint runs go vet. Without data for a debugger, test
# binaries are linked in two thirds of the time. With GOGC=400, compilers and tests collect garbage less often.
TEST = GOGC=400 $(GO) test -vet=off -ldflags=-w $(TESTFLAGS)
DEMO = docs/experiments/demo.yaml

# Without -trimpath the program would hold the paths of the folder it was built
# in. The revision is stamped into it where git can tell it.
VCS := $(shell git status --porcelain >/dev/null 2>&1 && echo auto || echo false)
BUILD = $(GO) build -trimpath -buildvcs=$(VCS) $(if $(filter amd64,$(shell $(GO) env GOARCH)),,$(EXACT))

# Processors other than amd64 multiply and add in one rounding wherever the compiler likes. This flag leaves
# that to the program, so that its results are the same on all of them.
EXACT = -gcflags=all=-d=fmahash=qn

# The build with OpenCV. gocv always compiles its core, imgproc and imgcodecs; the linker drops the
# functions that nobody calls, and with them a hundred libraries. .ci/opencv has the list of modules
# whose headers are there.
TAGS = opencv,gocv_specific_modules,gocv_features2d,customenv
OPENCV = CGO_ENABLED=1 CGO_CFLAGS="-O2 -ffunction-sections -fdata-sections" \
  CGO_CXXFLAGS="--std=c++11 -I$(CURDIR)/.ci/opencv -I/usr/include/opencv4 -O2 -ffunction-sections -fdata-sections"
LINK = -ldflags '-linkmode external -extldflags "-Wl,--gc-sections -lopencv_features2d -lopencv_imgproc -lopencv_core -lstdc++ -lm"'

.PHONY: run test test-portable test-tools test-opencv test-race test-plain test-processors test-arm64 race lint opencv portable wheel test-python beam test-beam flink spark deps fuzz torture bench clean vulncheck docs release release-files release-check release-tools sbom reproducible reproducible-opencv

run: opencv
	./partwise run $(DEMO)
	./partwise cluster generated -k 20 --labels $(DEMO:.yaml=-labels.csv) --method guided-kmeans
	@echo; echo "Open in a browser: results/demo/index.html (experiment) and results/generated-groups/index.html (groups)"

# The program with OpenCV, which finds key points. A file that the linker has just written is mapped in
# large pieces, 15 MB more than its copy.
opencv: deps
	$(OPENCV) $(BUILD) -tags $(TAGS) $(LINK) -o partwise.linked ./cmd/partwise
	install -m 755 partwise.linked partwise
	rm partwise.linked

# The portable build needs nothing but Go. Key points aside it gives the same results.
portable:
	CGO_ENABLED=0 $(BUILD) -o $(or $(OUT),partwise) ./cmd/partwise

# The same on Apache Beam, a module of its own: it links ten times as many libraries.
beam:
	cd beam && CGO_ENABLED=0 $(BUILD) -o ../partwise-beam ./cmd/partwise-beam

# The wheel of the Python package for this machine, into dist; make release makes those of all systems.
wheel:
	@GO=$(GO) .ci/wheels

# A release of the portable program, in dist: archives, packages and manifests (.goreleaser.yaml), wheels, a container
# image, and their sums. VERSION names it, as in VERSION=v1.2.3; without it they are a snapshot. COSIGN_KEY, a file or
# the address of a key, signs the sums.
RELEASE = PATH="$(CURDIR)/release-files/bin:$$PATH"
release: release-tools
	$(RELEASE) VERSION=$(VERSION) goreleaser release --clean --snapshot
	@GO=$(GO) .ci/wheels all
	.ci/image
	cd dist && sha256sum $$(find partwise* -maxdepth 0 -type f) > SHA256SUMS
	$(if $(COSIGN_KEY),$(RELEASE) cosign sign-blob --yes --new-bundle-format --bundle dist/SHA256SUMS.sigstore.json --key "$(COSIGN_KEY)" dist/SHA256SUMS,@echo "not signed: COSIGN_KEY is not set")

# The files of a release beside the program. The manual pages have the date of the commit.
release-files:
	rm -rf release-files/man release-files/completions
	mkdir -p release-files/completions
	CGO_ENABLED=0 $(BUILD) -ldflags "-X main.version=$(VERSION)" -o release-files/partwise ./cmd/partwise
	release-files/partwise man --dir release-files/man
	gzip -9nk release-files/man/*
	release-files/partwise licences --text > release-files/THIRD_PARTY_LICENCES.txt
	release-files/partwise completion bash > release-files/completions/partwise.bash
	release-files/partwise completion zsh > release-files/completions/_partwise
	release-files/partwise completion fish > release-files/completions/partwise.fish
	release-files/partwise completion powershell > release-files/completions/partwise.ps1

# Installs and runs the files of make release that this machine can run, and compares manifests with them.
release-check: release
	@$(MAKE) --no-print-directory deps PACKAGES="mmdebstrap rpm ruby"
	@GO=$(GO) nice .ci/release-check

# The bill of materials of the portable program, in CycloneDX.
sbom: portable release-tools
	@mkdir -p dist
	$(RELEASE) cyclonedx-gomod bin -json -licenses -noserial -notimestamp $(if $(VERSION),-version $(VERSION)) -output dist/partwise.cdx.json partwise

release-tools:
	GOBIN="$(CURDIR)/release-files/bin" CGO_ENABLED=0 $(GO) install github.com/goreleaser/goreleaser/v2@v2.15.0
	GOBIN="$(CURDIR)/release-files/bin" CGO_ENABLED=0 $(GO) install github.com/CycloneDX/cyclonedx-gomod/cmd/cyclonedx-gomod@v1.10.0
	$(if $(COSIGN_KEY),GOBIN="$(CURDIR)/release-files/bin" CGO_ENABLED=0 $(GO) install github.com/sigstore/cosign/v2/cmd/cosign@v2.6.2)
	@$(MAKE) --no-print-directory deps PACKAGES=buildah

# Builds the program, portable or with OpenCV, twice in different places and compares the bytes.
reproducible:
	@GO=$(GO) .ci/reproducible portable
reproducible-opencv: deps
	@GO=$(GO) .ci/reproducible opencv

# The other parts use the cores that the longest, test-portable, leaves idle. Tests keep their temporary
# files in memory where Linux offers 4 GB of it; they write and sync thousands of files.
MEMORY = $(shell grep -qs '^tmpfs /dev/shm tmpfs rw' /proc/mounts && ! grep -qs '^tmpfs /dev/shm .*noexec' /proc/mounts && \
  [ "$$(df -Pk /dev/shm | awk 'NR == 2 { print $$4 }')" -gt 4000000 ] && echo TMPDIR=/dev/shm GOTMPDIR=$${TMPDIR:-/tmp})
test: deps
	@$(MEMORY) $(MAKE) --no-print-directory -j3 -Otarget test-portable test-race test-processors test-opencv test-tools

test-portable:
	CGO_ENABLED=0 $(TEST) ./cmd/... ./...

# What keeps the files beside the program in step with it, and a part of make torture.
test-tools:
	cd tools && nice env CGO_ENABLED=0 $(TEST) ./licences ./schema ./examples ./torture ./bench/statistics

# The Python package with the portable program, where Python 3 makes virtual environments.
test-python:
	@GO=$(GO) .ci/python

# The pipelines of Apache Beam on Prism, against the portable program.
test-beam:
	cd beam && CGO_ENABLED=0 $(TEST) ./...

# They on a session cluster of Flink, of which one worker is killed, or on Spark. Both need Java 17 and Maven, and download 150 MB and 270 MB.
flink spark: beam portable
	@GO=$(GO) beam/runners/run $@

# What calls OpenCV and ONNX Runtime.
test-opencv: deps
	nice env $(OPENCV) $(TEST) -tags $(TAGS) $(LINK) -run 'KeypointSIFT|OpenCV' ./features
	nice env $(OPENCV) $(TEST) -tags $(TAGS) -run Runtime ./internal/network

# The packages that start goroutines, with the race detector; of the commands, those that are stopped or
# meet another. Long tests that start no goroutines of their own skip themselves (testkit.Slow).
test-race:
	nice env CGO_ENABLED=1 $(TEST) -race -short -timeout 30m ./pipeline ./pipeline/results ./pipeline/internal/... ./vocab ./features ./internal/files/cache ./internal/parallel
	nice env CGO_ENABLED=1 $(TEST) -race -short -timeout 30m -run 'Interrupt$$|InUse' ./cmd/...

# The digests of results that are the same on every processor: with AVX2, with plain Go, and without fused
# multiply-adds; then on an emulated processor of another kind.
test-processors: test-arm64
	for off in cpu.avx512f cpu.avx2 cpu.fma; do nice env GODEBUG=$$off=off CGO_ENABLED=0 $(TEST) -short -count=1 ./internal/golden ./internal/elementary || exit 1; done

test-arm64:
	@command -v qemu-aarch64-static >/dev/null 2>&1 || { \
	  sudo=""; [ "$$(id -u)" = 0 ] || sudo=sudo; \
	  $$sudo apt-get update -q && $$sudo env DEBIAN_FRONTEND=noninteractive apt-get install -y -q --no-install-recommends qemu-user-static; }
	nice env GOARCH=arm64 CGO_ENABLED=0 $(TEST) -short -count=1 -timeout 20m $(EXACT) -exec qemu-aarch64-static ./internal/golden

# What computes, with the loops in plain Go instead of assembly, as on a processor without AVX2.
NUMERIC = ./internal/simd ./internal/blas ./internal/network ./internal/eigen ./internal/sparse ./factor ./cluster ./eval ./vocab ./features
test-plain:
	GODEBUG=cpu.avx2=off CGO_ENABLED=0 $(GO) test -short -count=1 $(NUMERIC)

# Tests of fewer problems, with what finds unsynchronised access.
race:
	CGO_ENABLED=1 $(GO) test -race -short -count=1 -timeout 60m ./...

# Each system and each processor that releases are made for, once.
SYSTEMS = linux/arm64 darwin/arm64 windows/amd64
lint: deps
	@unformatted=$$(gofmt -l .); if [ -n "$$unformatted" ]; then echo "gofmt would change:" $$unformatted; exit 1; fi
	$(GO) vet ./...
	cd tools && $(GO) vet ./...
	cd beam && $(GO) vet ./...
	$(OPENCV) $(GO) vet -tags $(TAGS) ./features
	$(GO) generate ./internal/simd && git diff --exit-code -- internal/simd
	@set -e; check=$$($(GO) -C tools tool -n staticcheck); set -x; $$check ./...; cd tools; $$check ./...
	@set -e; for s in $(SYSTEMS); do echo "go vet for $$s"; \
	  CGO_ENABLED=0 GOOS=$${s%/*} GOARCH=$${s#*/} $(GO) vet -trimpath ./...; done

# Known vulnerabilities in what the program calls, where their data can be had.
vulncheck:
	@GO=$(GO) .ci/vulncheck

# What the build with OpenCV needs of the system, installed where it is missing.
PACKAGES = g++ libc6-dev libopencv-features2d-dev
deps:
	@command -v dpkg >/dev/null 2>&1 || { echo "not a Debian: the build with OpenCV needs a C++ compiler and OpenCV 4 with its headers; make portable needs neither"; exit 0; }; \
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

# Kills, full disks, large problems and many random ones, at length. TORTURE holds flags, as in TORTURE='-run=Kills -kills=5000'.
torture:
	cd tools && CGO_ENABLED=0 $(GO) test ./torture -count=1 -v -timeout=6h -kills=1200 -step=1 -memory $(TORTURE)
	CGO_ENABLED=0 $(GO) test ./factor ./cluster -count=1 -timeout=6h -problems=200

# Benchmarks of the kernels, and then other programs beside this one. BENCH holds words of the rows, and
# --repeats; --doc ../docs/performance.md also replaces the rows there.
PEERS = numpy scipy scikit-learn onnxruntime
bench:
	$(GO) test -run NONE -bench . ./...
	cd tools/bench && { .venv/bin/python -c 'import sklearn, onnxruntime' 2>/dev/null || \
	  { python3 -m venv .venv && .venv/bin/python -m pip install --quiet $(PEERS); }; }
	cd tools && bench/.venv/bin/python bench/bench.py $(BENCH)

# The documentation as a site in dist/site: open dist/site/index.html.
docs:
	cd tools/site && { .venv/bin/mkdocs --version >/dev/null 2>&1 || \
	  { python3 -m venv .venv && .venv/bin/python -m pip install --quiet -r requirements.txt; }; }
	NO_MKDOCS_2_WARNING=1 tools/site/.venv/bin/mkdocs build -f tools/site/mkdocs.yml

# Results are the user's and stay.
clean:
	rm -rf partwise partwise.linked partwise-beam beam/runners/out dist release-files

# make run    install what is missing, build, and run the demonstration
# make test   run all tests in both builds
# make lint   gofmt, go vet, staticcheck

GO ?= go
DEMO = docs/experiments/demo.yaml

.PHONY: run test test-native test-portable lint native portable deps fuzz bench clean

run: native
	./partwise run $(DEMO)

# The native build does matrix products with OpenBLAS.
native: deps
	CGO_ENABLED=1 $(GO) build -tags native -o partwise ./cmd/partwise

# The portable build needs nothing but Go.
portable:
	CGO_ENABLED=0 $(GO) build -o partwise ./cmd/partwise

test: test-portable test-native

test-native: deps
	CGO_ENABLED=1 $(GO) test -tags native ./...

test-portable:
	CGO_ENABLED=0 $(GO) test ./...

lint:
	@unformatted=$$(gofmt -l .); if [ -n "$$unformatted" ]; then echo "gofmt would change:" $$unformatted; exit 1; fi
	$(GO) vet ./...
	CGO_ENABLED=1 $(GO) vet -tags native ./...
	$(GO) tool staticcheck ./...
	CGO_ENABLED=1 $(GO) tool staticcheck -tags native ./...

# What the native build needs of the system, installed where it is missing.
PACKAGES = gcc libc6-dev libopenblas-dev
deps:
	@command -v dpkg >/dev/null 2>&1 || { echo "not a Debian: the native build needs a C compiler and OpenBLAS; make portable needs neither"; exit 0; }; \
	missing=""; for p in $(PACKAGES); do dpkg -s $$p >/dev/null 2>&1 || missing="$$missing $$p"; done; \
	if [ -n "$$missing" ]; then \
	  echo "installing$$missing"; \
	  sudo=""; [ "$$(id -u)" = 0 ] || sudo=sudo; \
	  $$sudo apt-get update -q && DEBIAN_FRONTEND=noninteractive $$sudo apt-get install -y -q $$missing; \
	fi

# Each fuzz target for FUZZTIME.
FUZZTIME ?= 20s
fuzz:
	@grep -roE --include='*_test.go' '^func Fuzz[A-Za-z0-9]+' . | sed 's/func //' | sort | while IFS=: read -r file f; do \
	  $(GO) test -run NONE -fuzz "^$$f$$" -fuzztime $(FUZZTIME) "$$(dirname "$$file")" || exit 1; done

bench: deps
	CGO_ENABLED=1 $(GO) test -tags native -run NONE -bench . ./...

clean:
	rm -rf partwise results

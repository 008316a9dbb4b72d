package main

import (
	"os"
	"testing"
	"time"
)

// asProgram is the environment variable that makes the test's binary the program
// itself, for tests that need a process of their own.
const asProgram = "PARTWISE_TEST_AS_PROGRAM"

// TestMain keeps the tests from the cache of who runs them.
func TestMain(m *testing.M) {
	lineEvery = 24 * time.Hour // a slow machine says no more than a fast one
	if os.Getenv(asProgram) != "" {
		main()
	}
	dir, err := os.MkdirTemp("", "partwise-test-")
	if err == nil {
		err = os.Setenv("PARTWISE_CACHE", dir)
	}
	if err != nil {
		panic(err)
	}
	code := m.Run()
	os.RemoveAll(dir)
	os.Exit(code)
}

// Partwise turns image sets into parts, groups and scores.
package main

import (
	"os"

	_ "github.com/seed4492f2cd/partwise/features/lite0"
)

func main() {
	os.Exit(run(os.Args[1:], os.Stdout, os.Stderr))
}

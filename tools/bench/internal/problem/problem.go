//go:build unix

// Package problem reads the problems that scripts write for the programs that are timed.
package problem

import (
	"fmt"
	"math"
	"os"
	"path/filepath"
	"strings"
	"syscall"

	"github.com/sbinet/npyio"

	"github.com/seed4492f2cd/partwise/factor"
)

// Read reads the file name.npy of a folder.
func Read(dir, name string, to any) error {
	path := filepath.Join(dir, name+".npy")
	f, err := os.Open(path)
	if err != nil {
		return err
	}
	defer f.Close()
	if err := npyio.Read(f, to); err != nil {
		return fmt.Errorf("%s: %w", path, err)
	}
	return nil
}

// Sparse reads a sparse matrix of m columns: the files starts, columns and values.
func Sparse(dir string, m int) (*factor.CSR, error) {
	var starts, columns []int64
	var values []float64
	for name, to := range map[string]any{"starts": &starts, "columns": &columns, "values": &values} {
		if err := Read(dir, name, to); err != nil {
			return nil, err
		}
	}
	return factor.NewCSR(len(starts)-1, m, Ints(starts), Ints(columns), values)
}

// Ints returns the numbers as ints.
func Ints(x []int64) []int {
	out := make([]int, len(x))
	for i, v := range x {
		out[i] = int(v)
	}
	return out
}

// Processor returns how many seconds of processor the program has taken.
func Processor() float64 {
	var r syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &r); err != nil {
		return math.NaN()
	}
	return float64(r.Utime.Nano()+r.Stime.Nano()) / 1e9
}

// Peak returns how many MB of memory the program has held at most, on Linux. What
// getrusage says of it is no less than that of the program that started this one.
func Peak() float64 {
	status, err := os.ReadFile("/proc/self/status")
	if err != nil {
		return math.NaN()
	}
	_, rest, _ := strings.Cut(string(status), "VmHWM:")
	var kB float64
	if _, err := fmt.Sscan(rest, &kB); err != nil {
		return math.NaN()
	}
	return kB * 1.024e-3
}

//go:build unix

// Command network runs the built-in network on a pattern for compare.py, on one core. For
// each line that it reads, it runs so many images as the line says and prints the seconds
// that took, and those of a processor:
//
//	network MODEL OUT
//
// Before that it writes the network's values of the pattern to OUT.
package main

import (
	"bufio"
	"encoding/binary"
	"errors"
	"fmt"
	"os"
	"runtime"
	"strconv"
	"time"

	"github.com/seed4492f2cd/partwise/internal/network"
	"github.com/seed4492f2cd/partwise/tools/bench/internal/problem"
)

func main() {
	if err := run(os.Args[1:]); err != nil {
		fmt.Fprintln(os.Stderr, "network:", err)
		os.Exit(1)
	}
}

func run(args []string) error {
	if len(args) != 2 {
		return errors.New("want two files: MODEL OUT")
	}
	runtime.GOMAXPROCS(1)
	model, err := os.ReadFile(args[0])
	if err != nil {
		return err
	}
	n, err := network.Compile(model, network.Options{})
	if err != nil {
		return err
	}
	image, out := make([]float32, n.Height*n.Width*n.Channels), make([]float32, n.OutHeight*n.OutWidth*n.OutChannels)
	for i := range image {
		x, y, c := i/3%224, i/3/224, i%3
		image[i] = (float32((x/16*37+y/16*91+c*53)%256) - 127) / 128
	}
	if err := n.Run(out, image); err != nil {
		return err
	}
	content, err := binary.Append(nil, binary.LittleEndian, out)
	if err != nil {
		return err
	}
	if err := os.WriteFile(args[1], content, 0o600); err != nil {
		return err
	}
	lines := bufio.NewScanner(os.Stdin)
	for lines.Scan() {
		images, err := strconv.Atoi(lines.Text())
		if err != nil {
			return err
		}
		began, processor := time.Now(), problem.Processor()
		for range images {
			if err := n.Run(out, image); err != nil {
				return err
			}
		}
		fmt.Println(time.Since(began).Seconds(), problem.Processor()-processor)
	}
	return lines.Err()
}

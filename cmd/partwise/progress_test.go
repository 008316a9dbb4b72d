package main

import (
	"bytes"
	"testing"
	"testing/synctest"
	"time"
)

// TestProgressLines: without a terminal, each stage prints a line every half minute with the latest progress, and none
// after the work.
func TestProgressLines(t *testing.T) {
	defer func(was time.Duration) { lineEvery = was }(lineEvery)
	lineEvery = 30 * time.Second
	synctest.Test(t, func(t *testing.T) {
		var out bytes.Buffer
		s := &stages{w: &out}
		wait := func(d time.Duration) {
			time.Sleep(d)
			synctest.Wait()
		}
		s.begin("reading the data")
		if s.what != "" {
			t.Errorf("doing %q", s.what)
		}
		wait(31 * time.Second)
		for i := range 45 {
			s.show("reading", i+1, 4000)
			wait(time.Second)
		}
		s.show("learning visual words", 3, -1)
		wait(29 * time.Second)
		s.show("drawing", 1, 9) // no stage of less than half a minute says anything
		wait(20 * time.Second)
		s.show("comparing images", 7, 20_000)
		wait(31 * time.Second)
		s.unit = unitBytes
		s.show("orl", 1_500_000, 20_000_000)
		wait(65 * time.Second)
		s.end()
		wait(time.Hour)
		want := "partwise: reading the data, 30s\n" +
			"partwise: reading: 30 of 4000 images, 30s\n" +
			"partwise: comparing images: 7 of 20000 pairs, 30s\n" +
			"partwise: orl: 1 of 20 MB, 30s\n" +
			"partwise: orl: 1 of 20 MB, 1m0s\n"
		if out.String() != want {
			t.Errorf("said\n%swant\n%s", out.String(), want)
		}
	})
}

// Package timing measures the time of a command by phase and method. The sums are stored in the context; without them
// nothing is measured.
package timing

import (
	"context"
	"sync"
	"time"
)

// Phase is a part of a command's work.
type Phase int

const (
	// Reading finds the samples and reads vectors and labels.
	Reading Phase = iota
	// Features decodes images and computes features. Within it, Describing computes descriptors, and Words learns and
	// counts visual words.
	Features
	Describing
	Words
	// Trials runs the trials of an experiment. DrawnWords learns and counts the visual words of draws, which methods
	// share. The phases below belong to one method.
	Trials
	DrawnWords
	// Factorising fits a method. Within it, SetUp is the time before the first iteration, and Initial the
	// initialisation.
	Factorising
	SetUp
	Initial
	// Grouping clusters or classifies samples, and Scores computes scores.
	Grouping
	Scores
)

// Times holds the sums. It is safe for concurrent use.
type Times struct {
	begin time.Time
	mu    sync.Mutex
	sums  map[key]Sum
}

type key struct {
	method string
	phase  Phase
}

// Sum is the total wall time of a phase and the number of its runs. Concurrent runs are added.
type Sum struct {
	Time  time.Duration
	Count int
}

type timesKey struct{}
type methodKey struct{}

// NewContext returns a context with sums that start now.
func NewContext(ctx context.Context) context.Context {
	return context.WithValue(ctx, timesKey{}, &Times{begin: time.Now(), sums: map[key]Sum{}})
}

// FromContext returns the sums of ctx, or nil.
func FromContext(ctx context.Context) *Times {
	t, _ := ctx.Value(timesKey{}).(*Times)
	return t
}

// Of returns a context in which phases count for the method.
func Of(ctx context.Context, method string) context.Context {
	return context.WithValue(ctx, methodKey{}, method)
}

// Without returns a context in which nothing is measured.
func Without(ctx context.Context) context.Context {
	return context.WithValue(ctx, timesKey{}, (*Times)(nil))
}

// Start starts a phase, which lasts until end is called.
func Start(ctx context.Context, phase Phase) (end func()) {
	t := FromContext(ctx)
	if t == nil {
		return func() {}
	}
	method, _ := ctx.Value(methodKey{}).(string)
	begin := time.Now()
	return func() {
		took := time.Since(begin)
		t.mu.Lock()
		defer t.mu.Unlock()
		s := t.sums[key{method, phase}]
		t.sums[key{method, phase}] = Sum{s.Time + took, s.Count + 1}
	}
}

// Spent returns the sum of a phase of a method; "" means phases without a method.
func (t *Times) Spent(method string, phase Phase) Sum {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.sums[key{method, phase}]
}

// Elapsed returns the time since NewContext.
func (t *Times) Elapsed() time.Duration { return time.Since(t.begin) }

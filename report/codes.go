package report

import (
	"context"
	"encoding/base64"
	"encoding/binary"
	"errors"
	"math"

	"github.com/seed4492f2cd/partwise/internal/layout"
	"github.com/seed4492f2cd/partwise/internal/memory"
	"github.com/seed4492f2cd/partwise/internal/project"
)

const (
	directions = 48 // principal directions for the neighbours of the map
	codeLength = 32 // principal directions for similar samples on the page
)

// codes are the features for the page, in base64.
type codes struct {
	// numbers holds length bytes for each sample, whose distances approximate those of the features.
	numbers string
	length  int
	// places holds x and y of each sample on the map, of two bytes each, the low one first.
	places string
}

// code returns codes and the map of the samples, or nil if there are no features, all are equal, or memory is
// short.
func (c Clusters) code(ctx context.Context) (*codes, error) {
	n := len(c.Names)
	if c.Features == nil || n < 2 {
		return nil, nil
	}
	release, err := memory.FromContext(ctx).Keep(int64(n)*8*directions+layout.Memory(n)+64<<20, "the map")
	var none *memory.LimitError
	if errors.As(err, &none) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	defer release()
	p, err := project.Rows(ctx, c.Features, c.Cosine, directions)
	if err != nil || p.D == 0 {
		return nil, err
	}
	out := &codes{}
	numbers, length := p.Codes(codeLength)
	text := make([]byte, len(numbers))
	for i, v := range numbers {
		text[i] = byte(v)
	}
	out.numbers, out.length = base64.StdEncoding.EncodeToString(text), length
	at, err := layout.Points(ctx, p)
	if err != nil {
		return nil, err
	}
	out.places = base64.StdEncoding.EncodeToString(places(at))
	return out, nil
}

// places returns points on a plane as numbers of two bytes, with one scale for both coordinates, centred.
func places(at []float32) []byte {
	low, high := [2]float32{at[0], at[1]}, [2]float32{at[0], at[1]}
	for i, v := range at {
		low[i%2], high[i%2] = min(low[i%2], v), max(high[i%2], v)
	}
	wide := max(high[0]-low[0], high[1]-low[1], 1e-30)
	out := make([]byte, 0, 2*len(at))
	for i, v := range at {
		share := float64((v-(low[i%2]+high[i%2])/2)/wide) + 0.5
		out = binary.LittleEndian.AppendUint16(out, uint16(math.Round(65535*max(0, min(1, share)))))
	}
	return out
}

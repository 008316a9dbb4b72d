// Package textsearch finds images by a description, with the text encoder of a network such as CLIP (Radford et al. 2021),
// whose features of an image and of a text that describes it are similar.
package textsearch

import (
	"cmp"
	"context"
	"fmt"
	"path/filepath"
	"slices"

	"gonum.org/v1/gonum/mat"

	"github.com/seed4492f2cd/partwise/internal/elementary"
	"github.com/seed4492f2cd/partwise/internal/matrix"
	"github.com/seed4492f2cd/partwise/internal/memory"
	"github.com/seed4492f2cd/partwise/internal/network"
)

// TokenizerFile is the tokenizer of a text encoder, beside its model.
const TokenizerFile = "tokenizer.json"

// Encoder computes the features of texts. It is safe for concurrent use.
type Encoder struct {
	tokens *tokenizer
	net    *network.Network
}

// Open reads the ONNX model of a text encoder, and the tokenizer beside it. Its features must have as many columns as the
// features of the images.
func Open(ctx context.Context, file string, columns int) (*Encoder, error) {
	tokens, err := readTokenizer(filepath.Join(filepath.Dir(file), TokenizerFile))
	if err != nil {
		return nil, err
	}
	model, err := network.ReadFile(ctx, file)
	var net *network.Network
	if err == nil {
		net, err = network.Compile(model, network.Options{Text: true, Memory: max(memory.FromContext(ctx).Free(), 1)})
	}
	if err == nil && (net.OutHeight*net.OutWidth != 1 || net.OutChannels != columns) {
		err = fmt.Errorf("its output has %d×%d values, but the features of the images have 1×%d: use the text encoder of the same model, with its projected features as first output",
			net.OutHeight*net.OutWidth, net.OutChannels, columns)
	}
	if err != nil {
		return nil, fmt.Errorf("text encoder %s: %w", file, err)
	}
	return &Encoder{tokens, net}, nil
}

// Search returns the rows of x by the cosine of the angle to the features of a text, the largest first.
func (e *Encoder) Search(x *mat.Dense, text string) ([]int, error) {
	ids, out := make([]float32, e.net.Width), make([]float32, e.net.OutChannels)
	for i, id := range e.tokens.encode(text, len(ids)) {
		ids[i] = float32(id)
	}
	if err := e.net.Run(out, ids); err != nil {
		return nil, err
	}
	n, _ := x.Dims()
	cosines := make([]float64, n)
	for i := range cosines {
		row := x.RawRowView(i)
		for j, v := range row {
			cosines[i] += v * float64(out[j])
		}
		if length := elementary.Norm(row); length > 0 {
			cosines[i] /= length
		}
	}
	rows := matrix.Range(n)
	slices.SortStableFunc(rows, func(a, b int) int { return cmp.Compare(cosines[b], cosines[a]) })
	return rows, nil
}

// Package textsearch finds images by a description, with the text encoder of a network such as CLIP (Radford et al. 2021),
// whose features of an image and of a text that describes it are similar.
package textsearch

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"golang.org/x/text/unicode/norm"
	"gonum.org/v1/gonum/mat"

	"github.com/seed4492f2cd/partwise/internal/elementary"
	"github.com/seed4492f2cd/partwise/internal/guard"
	"github.com/seed4492f2cd/partwise/internal/lists"
	"github.com/seed4492f2cd/partwise/internal/matrix"
	"github.com/seed4492f2cd/partwise/internal/memory"
	"github.com/seed4492f2cd/partwise/internal/network"
	"github.com/seed4492f2cd/partwise/internal/text/lazyregexp"
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
func Open(ctx context.Context, file string, columns int) (_ *Encoder, err error) {
	defer guard.Catch(&err)
	e := &Encoder{tokens: guard.Must(readTokenizer(filepath.Join(filepath.Dir(file), TokenizerFile)))}
	guard.Within(func() {
		model := guard.Must(network.ReadFile(ctx, file))
		e.net = guard.Must(network.Compile(model, network.Options{Text: true, Memory: max(memory.FromContext(ctx).Free(), 1)}))
		places := e.net.OutHeight * e.net.OutWidth
		guard.FailIf(places != 1 || e.net.OutChannels != columns,
			"its output has %d×%d values, but the features of the images have 1×%d: use the text encoder of the same model, with its projected features as first output",
			places, e.net.OutChannels, columns)
	}, "text encoder %s", file)
	return e, nil
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

// tokenizer is the byte-pair encoding of CLIP (Radford et al. 2021), from the file tokenizer.json of Hugging Face.
type tokenizer struct {
	ids        map[string]int
	ranks      map[pair]int // of the merges: the least is done first
	start, end int
}

// pair is a merge of two tokens: "th e" or ["th", "e"] in a file.
type pair [2]string

// UnmarshalJSON implements json.Unmarshaler.
func (p *pair) UnmarshalJSON(text []byte) error {
	var words string
	if json.Unmarshal(text, &words) != nil {
		return json.Unmarshal(text, (*[2]string)(p))
	}
	var ok bool
	if p[0], p[1], ok = strings.Cut(words, " "); !ok {
		return fmt.Errorf("merge %q: expected two tokens", words)
	}
	return nil
}

// startToken and endToken enclose a text, and wordEnd ends the last token of a word.
const startToken, endToken, wordEnd = "<|startoftext|>", "<|endoftext|>", "</w>"

func readTokenizer(path string) (t *tokenizer, err error) {
	defer guard.Catch(&err)
	text := guard.Must(os.ReadFile(path))
	var file struct {
		Model struct {
			Vocab  map[string]int
			Merges []pair
			Suffix string `json:"end_of_word_suffix"`
		}
	}
	guard.Within(func() {
		guard.Check(json.Unmarshal(text, &file))
		guard.FailIf(file.Model.Suffix != wordEnd, "end_of_word_suffix %q: expected the byte-pair tokenizer of CLIP, with %q", file.Model.Suffix, wordEnd)
		t = &tokenizer{ids: file.Model.Vocab, ranks: map[pair]int{}}
		for rank, p := range file.Model.Merges {
			_, ok := t.ids[p[0]+p[1]]
			guard.FailIf(!ok, "the vocabulary has no token %q, which a merge makes", p[0]+p[1])
			t.ranks[p] = rank
		}
		var hasStart, hasEnd bool
		t.start, hasStart = t.ids[startToken]
		t.end, hasEnd = t.ids[endToken]
		guard.FailIf(!(hasStart && hasEnd), "the vocabulary has no %s or %s", startToken, endToken)
	}, "%s", path)
	return t, nil
}

// words are the parts of a text that are encoded by themselves. The last excludes all white space of Unicode.
var words = lazyregexp.New(`'s|'t|'re|'ve|'m|'ll|'d|\p{L}+|\p{N}|[^\t-\r\x{85}\p{Z}\p{L}\p{N}]+`)

// encode returns the ids of at most length tokens. Tokens that are not in the vocabulary are the end token, as in the
// reference.
func (t *tokenizer) encode(text string, length int) []int {
	ids := []int{t.start}
	text = strings.ReplaceAll(norm.NFC.String(text), "İ", "i\u0307") // ToLower drops its dot
	for _, word := range words().FindAllString(strings.ToLower(text), -1) {
		for _, token := range t.merge(word) {
			id, ok := t.ids[token]
			if !ok {
				id = t.end
			}
			ids = append(ids, id)
		}
	}
	return append(ids[:min(len(ids), length-1)], t.end)
}

func (t *tokenizer) merge(word string) []string {
	tokens := lists.Map([]byte(word), func(b byte) string { return string(printable(b)) })
	tokens[len(tokens)-1] += wordEnd
	for {
		best, at := len(t.ranks), -1
		for i := range len(tokens) - 1 {
			if rank, ok := t.ranks[pair(tokens[i:i+2])]; ok && rank < best {
				best, at = rank, i
			}
		}
		if at < 0 {
			return tokens
		}
		merged := tokens[at] + tokens[at+1]
		tokens = append(append(tokens[:at:at], merged), tokens[at+2:]...)
	}
}

// printable returns the character that stands for a byte in a vocabulary: itself, or for a control character or a space
// one from U+0100 on, in order.
func printable(b byte) rune {
	switch {
	case b <= ' ':
		return 0x100 + rune(b)
	case b >= 0x7f && b <= 0xa0:
		return 0x100 + rune(b-0x7f+33)
	case b == 0xad:
		return 0x143
	}
	return rune(b)
}

package textsearch

import (
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"gonum.org/v1/gonum/mat"
)

func read(t testing.TB, name string) string {
	t.Helper()
	text, err := os.ReadFile(filepath.Join("testdata", name))
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// TestEncode compares ids with the library tokenizers, for both forms of merges, and shortens long texts.
func TestEncode(t *testing.T) {
	var cases []struct {
		Text string
		IDs  []int
	}
	if err := json.Unmarshal([]byte(read(t, "encoded.json")), &cases); err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(t.TempDir(), TokenizerFile)
	old := read(t, TokenizerFile)
	before, merges, ok := strings.Cut(old, `"merges":`)
	if !ok {
		t.Fatal("no merges")
	}
	old = before + `"merges":` + strings.ReplaceAll(strings.ReplaceAll(strings.ReplaceAll(merges, `","`, " "), `["`, `"`), `"]`, `"`)
	old = strings.Replace(old, `[["`, `["`, 1)
	if err := os.WriteFile(file, []byte(old), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, from := range []string{filepath.Join("testdata", TokenizerFile), file} {
		tokens, err := readTokenizer(from)
		if err != nil {
			t.Fatal(err)
		}
		for _, c := range cases {
			for _, length := range []int{100, 3} {
				want := c.IDs
				if len(want) > length {
					want = append(slices.Clone(want[:length-1]), want[len(want)-1])
				}
				if got := tokens.encode(c.Text, length); !slices.Equal(got, want) {
					t.Errorf("%q in %d tokens: %v, want %v", c.Text, length, got, want)
				}
			}
		}
	}
}

// TestPrintable: every byte has a character of its own, as in a vocabulary.
func TestPrintable(t *testing.T) {
	seen := map[rune]bool{}
	for b := range 256 {
		seen[printable(byte(b))] = true
	}
	if len(seen) != 256 || printable('~') != '~' || printable(' ') != 'Ġ' || printable(0xa0) != 'ł' || printable(0xad) != 'Ń' {
		t.Errorf("%d characters", len(seen))
	}
}

func TestSearch(t *testing.T) {
	e, err := Open(t.Context(), filepath.Join("testdata", "text.onnx"), 3)
	if err != nil {
		t.Fatal(err)
	}
	x := mat.NewDense(5, 3, []float64{9, 1, 0, 0, 1, 1, 0, 0, 0, 0, 0, 3, 1, 0, 0})
	for text, want := range map[string][]int{"a red house": {4, 0, 1, 2, 3}, "Blue": {3, 1, 0, 2, 4}, "green": {1, 0, 2, 3, 4}, "": {0, 1, 2, 3, 4}} {
		got, err := e.Search(x, text)
		if err != nil || !slices.Equal(got, want) {
			t.Errorf("%q: %v, %v, want %v", text, got, err, want)
		}
	}
}

// TestOpenErrors: errors name the file and the reason.
func TestOpenErrors(t *testing.T) {
	tokens, text := read(t, TokenizerFile), read(t, "text.onnx")
	for _, c := range []struct {
		tokens, model string
		columns       int
		want          string
	}{
		{"", text, 3, "tokenizer.json: no such file"},
		{"{", text, 3, "tokenizer.json: unexpected end"},
		{"{}", text, 3, `tokenizer.json: end_of_word_suffix "": expected the byte-pair tokenizer of CLIP`},
		{strings.Replace(tokens, `"red</w>":`, `"rod</w>":`, 1), text, 3, `the vocabulary has no token "red</w>"`},
		{strings.Replace(tokens, `"<|endoftext|>":`, `"<|end|>":`, 1), text, 3, "no <|startoftext|> or <|endoftext|>"},
		{strings.Replace(tokens, `["r","e"]`, `"re"`, 1), text, 3, `merge "re": expected two tokens`},
		{tokens, "", 3, "no such file"},
		{tokens, "x", 3, "text.onnx: not an ONNX model"},
		{tokens, read(t, "image.onnx"), 3, "expected the input input_ids of shape 1×77"},
		{tokens, text, 512, "has 1×3 values, but the features of the images have 1×512"},
	} {
		dir := t.TempDir()
		for name, content := range map[string]string{TokenizerFile: c.tokens, "text.onnx": c.model} {
			if content != "" {
				if err := os.WriteFile(filepath.Join(dir, name), []byte(content), 0o600); err != nil {
					t.Fatal(err)
				}
			}
		}
		if _, err := Open(t.Context(), filepath.Join(dir, "text.onnx"), c.columns); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("got %v, want %q", err, c.want)
		}
	}
}

// Command bench times this program beside others, on the same data from the same start,
// one after the other, and writes the tables of a document.
//
//	PARTWISE_DATA=folder go run ./bench [-repeats 5] [-only sift,fast/orl,fast/coil] [-doc docs/performance.md]
//
// fast/orl are the rows orl alone of the comparison fast, for a table of what is soon run.
// Each table stands between the lines <!-- bench NAME --> and <!-- end -->, and holds what
// was run this time and nothing else. A table of which nothing was run stays. What cannot be
// run, for want of data or of the other program, is left out and said. The other programs
// are installed from the Python Package Index into bench/.venv where they are missing.
package main

import (
	"bufio"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"

	"github.com/seed4492f2cd/partwise/internal/files/atomicfile"
	"github.com/seed4492f2cd/partwise/internal/text/phrase"
	"github.com/seed4492f2cd/partwise/tools/bench/internal/doc"
	"github.com/seed4492f2cd/partwise/tools/bench/internal/row"
)

// comparison is a program that prints rows, and other lines for who looks on.
type comparison struct {
	name    string
	command []string // PYTHON stands for the one with the other programs
	build   string   // of this program, as the table says it
	rows    []string // that its flag --only chooses from
}

var comparisons = []comparison{
	{"fast", []string{"PYTHON", "bench/fast/compare.py", "--json", "--repeats", "REPEATS"}, "portable build", []string{"orl", "coil", "mnist", "news", "kl-coil", "kl-mnist", "kl-news", "concept"}},
	{"fastkl", []string{"go", "run", "./bench/fastkl", "-json", "-repeats", "REPEATS"}, "portable build", []string{"coil", "mnist", "news", "zipf", "parts"}},
	{"kmeans", []string{"PYTHON", "bench/kmeans/compare.py", "--json", "--repeats", "REPEATS"}, "portable build", []string{"codes", "coil", "mnist"}},
	{"minibatch", []string{"PYTHON", "bench/minibatch/compare.py", "--json", "--repeats", "REPEATS"}, "portable build", []string{"frobenius-10", "frobenius-20", "kl-10", "kl-20"}},
	{"dsnmf", []string{"PYTHON", "bench/dsnmf/compare.py", "--json", "--repeats", "REPEATS"}, "portable build", nil},
	{"sift", []string{"PYTHON", "bench/sift/compare.py", "--json", "--repeats", "REPEATS"}, "portable build", nil},
	{"protocol", []string{"PYTHON", "bench/protocol/compare.py", "--json", "--repeats", "REPEATS"}, "portable build", []string{"ccf-yale", "cnmf-orl", "scenes13"}},
	{"network", []string{"PYTHON", "bench/network/compare.py", "--json", "--repeats", "REPEATS"}, "portable build", nil},
	{"vocabulary", []string{"go", "run", "./bench/vocabulary", "--json", "--seeds", "REPEATS", "--python", "PYTHON"}, "portable build", nil},
}

func main() {
	repeats := flag.Int("repeats", 5, "how often each is run")
	only := flag.String("only", "", "comparisons, or rows of them as in fast/orl, with commas between them; all without")
	path := flag.String("doc", "../docs/performance.md", "document that holds the tables")
	base := flag.String("python", "python3", "Python that the other programs are installed for")
	flag.Parse()
	if err := run(*repeats, *only, *path, *base); err != nil {
		fmt.Fprintln(os.Stderr, "bench:", err)
		os.Exit(1)
	}
}

func run(repeats int, only, path, base string) error {
	chosen, err := choose(only)
	if err != nil {
		return err
	}
	text, err := os.ReadFile(path)
	if err != nil {
		return err
	}
	for _, c := range chosen {
		if _, err := doc.Replace(text, c.name, ""); err != nil {
			return fmt.Errorf("%s: %w", path, err)
		}
	}
	python, versions, err := peers(base)
	if err != nil {
		fmt.Fprintf(os.Stderr, "bench: what runs in Python is left out: %v\n", err)
	}
	for _, c := range chosen {
		rows, err := c.run(python, repeats)
		if err != nil {
			fmt.Fprintf(os.Stderr, "bench: %s is left out from here on: %v\n", c.name, err)
		}
		if len(rows) == 0 {
			continue
		}
		table := row.Header
		for _, r := range rows {
			table += r.Markdown()
		}
		table += fmt.Sprintf("\nMedians of %s by turns, the share that of each pair; %s, %d processors, %s/%s, %s%s.\n",
			phrase.Count(repeats, "run", "runs"), c.build, runtime.NumCPU(), runtime.GOOS, runtime.GOARCH, runtime.Version(), versions)
		fmt.Print(table, "\n")
		// Read again, since hours may have passed.
		if text, err = os.ReadFile(path); err != nil {
			return err
		}
		if text, err = doc.Replace(text, c.name, table); err != nil {
			return err
		}
		if err := atomicfile.Write(path, text); err != nil {
			return err
		}
	}
	return nil
}

// choose returns the comparisons named, all where none is, with the arguments that leave out
// other rows than those named.
func choose(only string) ([]comparison, error) {
	if only == "" {
		return comparisons, nil
	}
	var chosen []comparison
	rows := map[string][]string{}
	for word := range strings.SplitSeq(only, ",") {
		name, row, some := strings.Cut(word, "/")
		at := slices.IndexFunc(comparisons, func(c comparison) bool { return c.name == name })
		if at < 0 {
			return nil, fmt.Errorf("there is no comparison %q", name)
		}
		c := comparisons[at]
		if some && !slices.Contains(c.rows, row) {
			return nil, fmt.Errorf("%s has no rows %q to choose, of %q", name, row, c.rows)
		}
		if _, again := rows[name]; !again {
			chosen = append(chosen, c)
		}
		if rows[name] = append(rows[name], row); !some {
			rows[name] = c.rows
		}
	}
	for i, c := range chosen {
		if named := rows[c.name]; len(named) < len(c.rows) {
			chosen[i].command = append(slices.Clone(c.command), "--only", strings.Join(named, ","))
		}
	}
	return chosen, nil
}

// run runs the comparison and returns its rows, also those before an error.
func (c comparison) run(python string, repeats int) (rows []row.Row, err error) {
	args := slices.Clone(c.command)
	for i, word := range args {
		switch word {
		case "PYTHON":
			if args[i] = python; python == "" {
				return nil, errors.New("no Python with the other programs")
			}
		case "REPEATS":
			args[i] = strconv.Itoa(repeats)
		}
	}
	fmt.Fprintln(os.Stderr, "bench:", strings.Join(args, " "))
	cmd := exec.Command(args[0], args[1:]...)
	cmd.Env = append(os.Environ(), "CGO_ENABLED=0")
	cmd.Stderr = os.Stderr
	out, err := cmd.StdoutPipe()
	if err != nil {
		return nil, err
	}
	if err := cmd.Start(); err != nil {
		return nil, err
	}
	lines := bufio.NewScanner(out)
	for lines.Scan() {
		var r row.Row
		if json.Unmarshal(lines.Bytes(), &r) != nil {
			fmt.Fprintln(os.Stderr, lines.Text())
			continue
		}
		fmt.Fprint(os.Stderr, r.Markdown())
		rows = append(rows, r)
	}
	return rows, errors.Join(lines.Err(), cmd.Wait())
}

// peers returns a Python with the other programs, installed where they are missing, and
// their versions for the line below a table.
func peers(base string) (python, versions string, err error) {
	const script = `import cv2, numpy, onnxruntime, scipy, sklearn
print(f", scikit-learn {sklearn.__version__}, NumPy {numpy.__version__}, SciPy {scipy.__version__}, OpenCV {cv2.__version__}", end="")`
	venv, err := filepath.Abs("bench/.venv")
	if err != nil {
		return "", "", err
	}
	bin := "bin"
	if runtime.GOOS == "windows" {
		bin = "Scripts"
	}
	python = filepath.Join(venv, bin, "python")
	if out, err := exec.Command(python, "-c", script).Output(); err == nil {
		return python, string(out), nil
	}
	for _, args := range [][]string{
		{base, "-m", "venv", venv},
		{python, "-m", "pip", "install", "--quiet", "numpy", "scipy", "scikit-learn", "opencv-python-headless", "onnxruntime"},
	} {
		fmt.Fprintln(os.Stderr, "bench:", strings.Join(args, " "))
		cmd := exec.Command(args[0], args[1:]...)
		cmd.Stdout, cmd.Stderr = os.Stderr, os.Stderr
		if err := cmd.Run(); err != nil {
			return "", "", err
		}
	}
	out, err := exec.Command(python, "-c", script).Output()
	if err != nil {
		return "", "", err
	}
	return python, string(out), nil
}

package reproduce

import (
	"embed"
	"errors"
	"fmt"
	"io"
	"os"
	"path"
	"slices"
	"strings"

	"github.com/seed4492f2cd/partwise/eval"
	"github.com/seed4492f2cd/partwise/internal/document"
	"github.com/seed4492f2cd/partwise/internal/enum"
	"github.com/seed4492f2cd/partwise/internal/filename"
	"github.com/seed4492f2cd/partwise/internal/settings"
	"github.com/seed4492f2cd/partwise/pipeline"
	"github.com/seed4492f2cd/partwise/pipeline/experimentfile"
)

// Recipe is a protocol of a paper with what the paper prints of it.
type Recipe struct {
	Name string
	// Protocol is the text of an experiment file, and Printed that of the file of the paper.
	Protocol, Printed string
	Paper
}

// Paper is what a file of a paper says.
type Paper struct {
	// Paper is what to cite.
	Paper string `setting:"paper"`
	// Get says how to get data that are no known set, and Needs what else is needed.
	Get   string `setting:"get"`
	Needs string `setting:"needs"`
	// Minutes is about how long ten draws take on two cores.
	Minutes float64 `setting:"minutes"`
	// Draws is the number of draws of which the printed values are means; 0 means 10.
	Draws int `setting:"draws"`
	// Notes say what else somebody should know of the comparison.
	Notes  []string `setting:"notes"`
	Claims []Claim  `setting:"claims"`
	Tables []Table  `setting:"tables"`
	// Variants are run beside the protocol, for claims that name them. Readings are settings of
	// what the paper leaves unsaid, which are run where it prints something else.
	Variants []Variant `setting:"variants"`
	Readings []Variant `setting:"readings"`
}

// Claim is what a paper says of two or more methods: that the mean score of Method is above those
// of all Over, by at least a part of Gain where that is printed, or below those of all Below.
type Claim struct {
	Says string `setting:"says"`
	// Where is the table, figure or text of the paper.
	Where string `setting:"where"`
	Score string `setting:"score"`
	// Method is compared at the rows At, numbers of classes or ranks, and Over at OverAt, which is At
	// where it is left out. No rows are all.
	Method string           `setting:"method"`
	At     pipeline.Classes `setting:"at"`
	Over   []string         `setting:"over"`
	OverAt pipeline.Classes `setting:"over-at"`
	Below  []string         `setting:"below"`
	// Some says that it is so at some of the rows At, for each of the others at one at least.
	Some bool `setting:"some"`
	// Than are rows at which the difference is to be less than at At.
	Than pipeline.Classes `setting:"than"`
	// Gain is the printed difference in points, 0 where none is printed.
	Gain float64 `setting:"gain"`
	// Within is the number of iterations in which Method is said to converge, in place of
	// Score and Over.
	Within int `setting:"within"`
	// In is the variant that it is about, "" for the protocol itself.
	In string `setting:"in"`
}

// others are the methods that Method is compared with, none where the claim is about iterations.
func (c *Claim) others() []string {
	return append(slices.Clone(c.Over), c.Below...)
}

// Table is a table of a paper with one score.
type Table struct {
	Where   string   `setting:"where"`
	Score   string   `setting:"score"`
	Methods []string `setting:"methods"`
	Rows    []Row    `setting:"rows"`
}

// Row is a row of a table: the means of all methods in the unit of scores, 0 where there is none,
// at a number of classes or a rank, or averages over all where At is 0.
type Row struct {
	At  int       `setting:"at"`
	Are []float64 `setting:"are"`
}

// Variant is a protocol with other settings.
type Variant struct {
	Name string
	// Free scores the unlabelled samples of the protocol itself, and runs nothing.
	Free bool

	change *settings.Value
}

// DecodeSetting reads {name: …} with keys of an experiment file beside it.
func (v *Variant) DecodeSetting(value *settings.Value) error {
	var own struct {
		Name string `setting:"name"`
		Free bool   `setting:"free"`
	}
	head, change := value.Split(settings.Names(own))
	if err := settings.Decode(head, &own); err != nil {
		return err
	}
	*v = Variant{own.Name, own.Free, change}
	if v.Name == "" || v.Folder() == "" {
		return value.Want("{name: …} with keys of an experiment file")
	}
	return settings.Decode(change, &pipeline.Experiment{})
}

// Folder names the folder of its results.
func (v Variant) Folder() string {
	return filename.Safe(strings.ReplaceAll(v.Name, " ", "-"))
}

//go:embed recipes/*.yaml
var recipes embed.FS

const (
	protocolEnd = ".yaml"
	printedEnd  = ".paper.yaml"
)

// Names returns the names of the recipes that are built in.
func Names() (names []string) {
	files, err := recipes.ReadDir("recipes")
	if err != nil {
		panic(err) // they are in the program
	}
	for _, f := range files {
		if name, ok := strings.CutSuffix(f.Name(), printedEnd); ok {
			names = append(names, name)
		}
	}
	return names
}

// Lookup returns a recipe that is built in.
func Lookup(name string) (*Recipe, error) {
	name = enum.Fold(name, Names())
	protocol, err := recipes.ReadFile(path.Join("recipes", name+protocolEnd))
	if err != nil {
		return nil, err
	}
	printed, err := recipes.ReadFile(path.Join("recipes", name+printedEnd))
	if err != nil {
		return nil, err
	}
	return parse(name, name+protocolEnd, name+printedEnd, protocol, printed)
}

// Beside returns the file of what a paper prints, which lies beside that of a recipe's protocol.
func Beside(file string) string { return strings.TrimSuffix(file, protocolEnd) + printedEnd }

// Load reads a recipe from an experiment file and the file of a paper beside it, NAME.yaml and
// NAME.paper.yaml.
func Load(file string) (*Recipe, error) {
	beside := Beside(file)
	var texts [2][]byte
	for i, name := range []string{file, beside} {
		f, err := os.Open(name)
		if err != nil {
			return nil, err
		}
		texts[i], err = io.ReadAll(io.LimitReader(f, document.MaxBytes+1))
		f.Close()
		if err != nil {
			return nil, err
		}
	}
	return parse("", file, beside, texts[0], texts[1])
}

func parse(name, file, beside string, protocol, printed []byte) (*Recipe, error) {
	e, err := experimentfile.Parse(protocol)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", file, err)
	}
	if name == "" {
		if name = e.Name; name == "" {
			return nil, fmt.Errorf("%s: the experiment has no name", file)
		}
	}
	r := &Recipe{Name: name, Protocol: string(protocol), Printed: string(printed)}
	value, err := document.Parse(printed)
	if err == nil {
		err = settings.Decode(value, &r.Paper)
	}
	if err != nil {
		return nil, fmt.Errorf("%s: %w", beside, document.Excerpt(printed, err))
	}
	if r.Draws == 0 {
		r.Draws = 10
	}
	if err := r.check(); err != nil {
		return nil, fmt.Errorf("%s: %w", beside, err)
	}
	return r, nil
}

// Experiment returns the protocol, or that of a variant.
func (r *Recipe) Experiment(v *Variant) (*pipeline.Experiment, error) {
	e, err := experimentfile.Parse([]byte(r.Protocol))
	if err != nil {
		return nil, err
	}
	e.Name = r.Name
	if v != nil {
		if err := settings.Decode(v.change, e); err != nil {
			return nil, err
		}
		e.Name = r.Name + "-" + v.Folder()
	}
	return e, e.Check()
}

// check reports claims and tables that the experiments do not fit.
func (r *Recipe) check() error {
	main, err := r.Experiment(nil)
	if err != nil {
		return err
	}
	if r.Paper.Paper == "" || len(r.Claims) == 0 {
		return errors.New("it names no paper or no claims")
	}
	if len(main.Sets) > 0 {
		return errors.New("its experiment is on several sets, and a recipe is on one")
	}
	of := map[string]*pipeline.Experiment{"": main}
	folders := map[string]bool{}
	for i, v := range slices.Concat(r.Variants, r.Readings) {
		e, err := r.Experiment(&v)
		if err != nil {
			return fmt.Errorf("%s: %w", v.Name, err)
		}
		if folders[v.Folder()] {
			return fmt.Errorf("%q stands twice, or has the folder of another", v.Name)
		}
		folders[v.Folder()] = true
		if i < len(r.Variants) {
			of[v.Name] = e
		}
	}
	for _, c := range r.Claims {
		e := of[c.In]
		if e == nil {
			return fmt.Errorf("%q: there is no variant %q", c.Says, c.In)
		}
		err := checkMethods(e, append([]string{c.Method}, c.others()...))
		if err == nil && c.Within == 0 {
			switch err = checkScore(e, c.Score); {
			case err != nil:
			case (len(c.Over) == 0) == (len(c.Below) == 0):
				err = errors.New("it says over no method and below none, or both")
			case c.Some && (len(c.At) == 0 || len(c.OverAt)+len(c.Than) > 0):
				err = errors.New("some is of rows that at lists, without over-at and than")
			}
		}
		for _, at := range slices.Concat(c.At, c.OverAt, c.Than) {
			if err == nil && !slices.Contains(rowsOf(e), at) {
				err = fmt.Errorf("there is no row %d", at)
			}
		}
		if err != nil || c.Says == "" {
			return fmt.Errorf("claim %q: %w", c.Says, err)
		}
	}
	for _, t := range r.Tables {
		err := checkMethods(main, t.Methods)
		if err == nil {
			err = checkScore(main, t.Score)
		}
		for _, row := range t.Rows {
			switch {
			case err != nil:
			case len(row.Are) != len(t.Methods):
				err = fmt.Errorf("row %d has %d values for %d methods", row.At, len(row.Are), len(t.Methods))
			case row.At != 0 && !slices.Contains(rowsOf(main), row.At):
				err = fmt.Errorf("there is no row %d", row.At)
			}
		}
		if err != nil {
			return fmt.Errorf("table %q: %w", t.Where, err)
		}
	}
	return nil
}

// rowsOf are the rows of the tables of an experiment.
func rowsOf(e *pipeline.Experiment) (rows []int) {
	if len(e.Rank) < 2 {
		return e.Classes
	}
	for _, r := range e.Rank {
		rows = append(rows, r.Of(0))
	}
	return rows
}

func checkMethods(e *pipeline.Experiment, names []string) error {
	for _, name := range names {
		if !slices.ContainsFunc(e.Methods, func(m pipeline.Method) bool { return m.Label() == name }) {
			return fmt.Errorf("the experiment has no method %q", name)
		}
	}
	return nil
}

func checkScore(e *pipeline.Experiment, name string) error {
	if s, ok := eval.FindScore(name); !ok || s.Unit != eval.UnitPercent || s.Task != e.Task {
		return fmt.Errorf("%q is no score in percent of the task %s", name, e.Task)
	}
	return nil
}

// Package reproduce runs the protocols of papers as experiments, and compares the results with the printed ones. A
// [Recipe] holds a protocol with a paper's claims and tables, a [Runner] adds draws until the claims are decided, and
// an [Outcome] holds the verdicts. docs/how-to/reproduce-a-paper.md says what a verdict means.
package reproduce

import (
	"cmp"
	"embed"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"slices"
	"strings"

	"github.com/seed4492f2cd/partwise/datasets/catalogue"
	"github.com/seed4492f2cd/partwise/eval"
	"github.com/seed4492f2cd/partwise/internal/files/filename"
	"github.com/seed4492f2cd/partwise/internal/guard"
	"github.com/seed4492f2cd/partwise/internal/lists"
	"github.com/seed4492f2cd/partwise/internal/settings"
	"github.com/seed4492f2cd/partwise/internal/settings/document"
	"github.com/seed4492f2cd/partwise/internal/settings/enum"
	"github.com/seed4492f2cd/partwise/pipeline/spec"
)

// Recipe is the protocol of a paper's experiment with the printed results.
type Recipe struct {
	Name string // the name of its files
	// Protocol is the text of the experiment file, and Printed the text of the paper's file.
	Protocol, Printed string
	Paper

	experiment *spec.Experiment
}

// Paper is the content of a paper's file.
type Paper struct {
	Paper string `setting:"paper"` // the citation
	// Get says how to get data that are not a known set, and Needs names other requirements.
	Get     string  `setting:"get"`
	Needs   string  `setting:"needs"`
	Minutes float64 `setting:"minutes"` // the approximate time of ten draws on two cores
	Draws   int     `setting:"draws"`   // the number of draws behind the printed means; 0 means 10
	// Notes are remarks on the comparison.
	Notes  []string `setting:"notes"`
	Claims []Claim  `setting:"claims"`
	Tables []Table  `setting:"tables"`
	// Variants are protocols for the claims that name them. Readings are settings that the paper leaves open; they are
	// run if results differ from the printed ones.
	Variants []Variant `setting:"variants"`
	Readings []Variant `setting:"readings"`
}

// Claim is a paper's claim that the mean score of Method is above the means of all Over, or below the means of all
// Below. If Gain is printed, the difference must be a substantial part of it.
type Claim struct {
	Says  string `json:"says" setting:"says"`             // the claim in words
	Where string `json:"where,omitempty" setting:"where"` // table, figure or section of the paper
	Score string `json:"score,omitempty" setting:"score"`
	// Method is compared at the rows At, which are numbers of classes or ranks, with others at OverAt, by default At.
	// No rows means all.
	Method string       `json:"method" setting:"method"`
	At     spec.Classes `json:"at,omitempty" setting:"at"`
	Over   []string     `json:"over,omitempty" setting:"over"`
	OverAt spec.Classes `json:"over-at,omitempty" setting:"over-at"`
	Below  []string     `json:"below,omitempty" setting:"below"`
	// With Some, one of the rows At is enough for the claim against each other method.
	Some bool `json:"some,omitempty" setting:"some"`
	// Than are rows at which the difference is smaller than at At.
	Than spec.Classes `json:"than,omitempty" setting:"than"`
	// Gain is the printed difference in points, if any.
	Gain float64 `json:"gain,omitempty" setting:"gain"`
	// Within, if above 0, claims that Method converges in this many iterations; Score and Over are empty then.
	Within int `json:"within,omitempty" setting:"within"`
	// In is the variant of the claim, "" for the protocol itself.
	In string `json:"in,omitempty" setting:"in"`
}

// others are the methods with which Method is compared, none for a claim about iterations.
func (c *Claim) others() []string { return slices.Concat(c.Over, c.Below) }

// Table is a printed table of one score.
type Table struct {
	Where   string   `setting:"where"` // the number of the table in the paper
	Score   string   `setting:"score"`
	Methods []string `setting:"methods"` // the columns
	Rows    []Row    `setting:"rows"`
}

// Row is a row of a table, for a number of classes or a rank, or the averages over all rows if At is 0. Are holds the
// mean of each method in the unit of the score, 0 for none.
type Row struct {
	At  int       `setting:"at"`
	Are []float64 `setting:"are"` // by method
}

// Variant is the protocol with other settings.
type Variant struct {
	Name string `setting:"name"`
	Free bool   `setting:"free"` // scores only the unlabelled samples of the protocol's own trials

	change     *settings.Value
	experiment *spec.Experiment
}

// DecodeSetting reads {name: …} with further keys of an experiment file.
func (v *Variant) DecodeSetting(value *settings.Value) error {
	head, change := value.Split(settings.Names(v))
	*v = Variant{change: change}
	if err := settings.DecodeFields(head, v); err != nil {
		return err
	}
	if v.Folder() == "" {
		return value.Want("{name: …} with keys of an experiment file")
	}
	return nil
}

// Folder is the name of the folder of its results.
func (v Variant) Folder() string { return filename.Safe(strings.ReplaceAll(v.Name, " ", "-")) }

//go:embed recipes/*.yaml
var recipes embed.FS

const (
	protocolEnd = ".yaml"
	printedEnd  = ".paper.yaml"
)

// Names returns the names of the built-in recipes.
func Names() (names []string) {
	files, _ := recipes.ReadDir("recipes") // cannot fail: the files are embedded
	for _, f := range files {
		if name, ok := strings.CutSuffix(f.Name(), printedEnd); ok {
			names = append(names, name)
		}
	}
	return names
}

// Lookup returns a built-in recipe.
func Lookup(name string) (*Recipe, error) {
	name = enum.Fold(name, Names())
	return load(name, name+protocolEnd, func(file string) (fs.File, error) { return recipes.Open(path.Join("recipes", file)) })
}

// Beside returns the path of the paper's file for a protocol's path: NAME.paper.yaml for NAME.yaml.
func Beside(file string) string { return strings.TrimSuffix(file, protocolEnd) + printedEnd }

// Load reads a recipe from an experiment file, NAME.yaml, and the paper's file beside it, NAME.paper.yaml.
func Load(file string) (*Recipe, error) {
	return load("", file, func(name string) (fs.File, error) { return os.Open(name) })
}

func load(name, file string, open func(string) (fs.File, error)) (_ *Recipe, err error) {
	defer guard.Catch(&err)
	protocol := guard.Must(document.Read(open(file)))
	printed := guard.Must(document.Read(open(Beside(file))))
	return parse(name, file, protocol, printed)
}

func parse(name, file string, protocol, printed []byte) (r *Recipe, err error) {
	e, err := spec.Parse(protocol)
	if err == nil && name == "" && e.Name == "" {
		err = errors.New("the experiment has no name")
	}
	if err != nil {
		return nil, settings.InFile(file, err)
	}
	e.Name = cmp.Or(name, e.Name)
	r = &Recipe{Name: e.Name, Protocol: string(protocol), Printed: string(printed), experiment: e}
	if err := guard.Try(func() {
		guard.Check(settings.Decode(guard.Must(document.Parse(printed)), &r.Paper))
		r.Draws = cmp.Or(r.Draws, 10)
		r.resolve()
		r.validate()
	}); err != nil {
		return nil, settings.InFile(Beside(file), document.Excerpt(printed, err))
	}
	return r, nil
}

// protocols returns the protocol itself, without a name, and the variants.
func (r *Recipe) protocols() []*Variant {
	all := []*Variant{{experiment: r.experiment}}
	for i := range r.Variants {
		all = append(all, &r.Variants[i])
	}
	return all
}

// resolve completes the experiments of the variants. It and the functions below call guard.Fail.
func (r *Recipe) resolve() {
	guard.Check(r.experiment.Check())
	folders := map[string]bool{}
	for _, list := range [][]Variant{r.Variants, r.Readings} {
		for i := range list {
			v := &list[i]
			e := *r.experiment
			guard.Check(settings.Decode(v.change, &e))
			e.Name = r.Name + "-" + v.Folder()
			guard.Check(guard.Wrap(e.Check(), "%s", v.Name))
			guard.FailIf(folders[v.Folder()], "%q has the same name or folder as another variant", v.Name)
			v.experiment, folders[v.Folder()] = &e, true
		}
	}
}

// validate refuses claims and tables that do not fit the experiments.
func (r *Recipe) validate() {
	guard.FailIf(r.Paper.Paper == "" || len(r.Claims) == 0, "paper or claims are missing")
	guard.FailIf(len(r.experiment.Sets) > 0, "the experiment has several sets; a recipe needs one")
	for _, c := range r.Claims {
		guard.Within(func() { r.checkClaim(&c) }, "claim %q", c.Says)
	}
	for _, t := range r.Tables {
		guard.Within(func() {
			checkScore(r.experiment, t.Score)
			var rows []int
			for _, row := range t.Rows {
				guard.FailIf(len(row.Are) != len(t.Methods), "row %d has %d values for %d methods", row.At, len(row.Are), len(t.Methods))
				if row.At != 0 {
					rows = append(rows, row.At)
				}
			}
			checkNames(r.experiment, t.Methods, rows)
		}, "table %q", t.Where)
	}
}

func (r *Recipe) checkClaim(c *Claim) {
	protocols := r.protocols()
	i := slices.IndexFunc(protocols, func(v *Variant) bool { return v.Name == c.In })
	guard.FailIf(i < 0 || c.Says == "", "unknown variant %q, or an empty claim", c.In)
	e := protocols[i].experiment
	checkNames(e, append(c.others(), c.Method), slices.Concat(c.At, c.OverAt, c.Than))
	if c.Within > 0 {
		return
	}
	guard.FailIf((len(c.Over) == 0) == (len(c.Below) == 0), `set either "over" or "below"`)
	guard.FailIf(c.Some && (len(c.At) == 0 || len(c.OverAt)+len(c.Than) > 0),
		`"some" needs "at" and excludes "over-at" and "than"`)
	checkScore(e, c.Score)
}

// checkNames refuses a method or a row that is not in the experiment.
func checkNames(e *spec.Experiment, methods []string, rows []int) {
	labels, known := lists.Map(e.Methods, spec.Method.Label), []int(e.Classes)
	for _, name := range methods {
		guard.FailIf(!slices.Contains(labels, name), "the experiment has no method %q", name)
	}
	if len(e.Rank) > 1 {
		known = lists.Map(e.Rank, func(r spec.Rank) int { return r.Of(0) })
	}
	for _, row := range rows {
		guard.FailIf(!slices.Contains(known, row), "row %d is not in the experiment; expected one of %v", row, known)
	}
}

func checkScore(e *spec.Experiment, name string) {
	s, ok := eval.FindScore(name)
	guard.FailIf(!ok || s.Unit != eval.UnitPercent || s.Task != e.Task, "%q is not a score in percent of the task %s", name, e.Task)
}

// Beyond is the name of the comparison of the program's own method with others, which has no paper.
const Beyond = "beyond"

//go:embed beyond.yaml
var beyond []byte

// Comparison returns the experiment of [Beyond], and one experiment for each of its sets, features and numbers of labels,
// with their names. It leaves out sets that are not below root, and calls absent with the reason. Quick has fewer
// numbers of labels and repeats.
func Comparison(root string, quick bool, absent func(error)) (e *spec.Experiment, names []string, cells []*spec.Experiment, err error) {
	defer guard.Catch(&err)
	e = guard.Must(spec.Parse(beyond))
	labels := []string{"1", "2", "5", "10%", "30%"}
	if quick {
		labels, e.Repeats = []string{"2", "10%"}, 3
	}
	sets := e.SetNames()
	for i, of := range e.Each() {
		if _, err := catalogue.Find(of.Data.Set, root, of.Data.From); err != nil {
			absent(err)
			continue
		}
		for _, features := range []string{"pixels", "hog", "network"} {
			for _, count := range labels {
				if count == "10%" && slices.Contains([]string{"yale", "orl", "coil20"}, of.Data.Set) {
					continue // at most about 20 samples per class: the same as 2 labels
				}
				one := *of
				change, err := document.Parse(fmt.Appendf(nil, "features: %s\nlabels: %s\n", features, count))
				if err == nil {
					err = settings.Decode(change, &one)
				}
				guard.Check(err)
				name := fmt.Sprintf("%s-%s-%s", sets[i], features, strings.Replace(count, "%", "-percent", 1))
				one.Name, one.Data.Root, one.Data.Labelled = e.Name+"-"+name, root, true
				names, cells = append(names, name), append(cells, &one)
			}
		}
	}
	return e, names, cells, nil
}

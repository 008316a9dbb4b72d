package spec

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"gonum.org/v1/gonum/mat"

	"github.com/seed4492f2cd/partwise/cluster"
	"github.com/seed4492f2cd/partwise/datasets/vectorfile"
	"github.com/seed4492f2cd/partwise/factor"
	"github.com/seed4492f2cd/partwise/features"
	"github.com/seed4492f2cd/partwise/internal/guard"
	"github.com/seed4492f2cd/partwise/internal/lists"
	"github.com/seed4492f2cd/partwise/internal/npz"
	"github.com/seed4492f2cd/partwise/internal/settings"
	"github.com/seed4492f2cd/partwise/internal/settings/enum"
	"github.com/seed4492f2cd/partwise/internal/text/phrase"
)

// Method is a method of an experiment with its settings. In a file it is a name, or {name: ccf, init: nmf, iterations:
// 1000} with its own parameters and the settings that all methods share; see [Methods].
type Method struct {
	// Name is the name in the registry.
	Name string `json:"name" setting:"name,text" help:"name of the method"`
	As   string `json:"-" setting:"as" default:"its name" help:"name in tables and curves"`
	// Swept are its settings that come from a list of values. Tables show them after the name.
	Swept  []Setting      `json:"-"`
	Params map[string]any `json:"params,omitempty"` // the method's own parameters
	// Init, Solver, Iterations and Tolerance are as in factor.Options, except that the default solver of an
	// experiment is mu, which keeps earlier trials valid.
	Init       factor.Init       `json:"init,omitempty" setting:"init" default:"random" help:"initialisation of the factors"`
	Solver     factor.SolverName `json:"solver,omitempty" setting:"solver" default:"mu" help:"algorithm that minimises the objective"`
	Iterations int               `json:"iterations,omitempty" setting:"iterations" default:"200" help:"maximum number of iterations"`
	Tolerance  float64           `json:"tolerance,omitempty" setting:"tolerance" range:"[0,1)" help:"convergence tolerance: stop when an iteration reduces the objective by less than this fraction; 0 never stops"`
	// Restarts fits from several initial factors and keeps the fit with the lowest objective; 0 means 1. With Consensus,
	// the clusters are those on which the restarts agree.
	Restarts  int  `json:"restarts,omitempty" setting:"restarts" default:"1" range:"[1,10000]" help:"number of fits from different random factors; the one with the lowest objective is used"`
	Consensus bool `json:"consensus,omitempty" setting:"consensus" help:"cluster by the agreement of the restarts instead: average linkage of 1 − the share of restarts in which two samples meet"`
	// FixedBasis is a file of vectors or a model, whose vectors stay the first ones of the basis.
	FixedBasis string `json:"-" setting:"fixed-basis" help:"file of vectors, or a saved model: the first basis vectors, which stay as they are"`
	// Tune chooses settings in each draw; the other fields are then the first candidate's.
	Tune *Tune `json:"tune,omitempty" setting:"tune" help:"settings to choose in each draw: lists of values, and by, the criterion"`
	// Results is the pattern of the files with a method's results, which another program computed.
	Results string `json:"-" setting:"results" help:"files with the results of another program, such as results/*.npz"`
	// By replaces the experiment's clustering for this method.
	By string `json:"cluster,omitempty" setting:"cluster" default:"the experiment's clustering" help:"clustering algorithm of the coefficients"`
	// Recode represents the training samples of a classification like the test samples: with the basis fixed, and
	// without ties and penalties. nil means true for a basis made of samples (U = X·W) and false for others. With such
	// a basis, the coefficients at the end of an ordinary run are far from the recoded ones.
	Recode *bool `json:"recode,omitempty" setting:"recode" default:"true for a concept basis, else false" help:"classification: recompute the coefficients of training samples as for test samples"`
}

// The methods without a representation use the features directly: the clustering algorithms, such as KMeans, and
// Original, which classifies.
const (
	KMeans   = "kmeans"
	Original = "original"
)

// maxName is the largest length of a method's name in tables, in bytes.
const maxName = 200

// OnFeatures reports whether the method called name uses the features directly, without a representation.
func OnFeatures(name string) bool {
	_, clusters := cluster.Lookup(name)
	return clusters || name == Original
}

// DecodeSetting reads a method and checks it.
func (m *Method) DecodeSetting(v *settings.Value) (err error) {
	defer guard.Catch(&err)
	failIf(v.Kind != settings.KindText && v.Kind != settings.KindMapping,
		v.Want, "a method's name, or {name: …} with its settings")
	if tune := v.Get("tune"); tune.Value != nil {
		return m.decodeTuned(v, tune)
	}
	*m = Method{}
	shared, params := v.Split(settings.Names(m))
	for _, f := range params.Fields {
		failIf(f.Value.Kind != settings.KindText, f.Value.Errorf, "%s: expected a single value", f.Key.Text)
		if m.Params == nil {
			m.Params = map[string]any{}
		}
		m.Params[f.Key.Text] = f.Value.Data
	}
	guard.Check(settings.DecodeFields(shared, m))
	m.By = enum.Fold(m.By, clusterings())
	info, ok := factor.Lookup(m.Name)
	if !ok {
		m.Name = enum.Fold(m.Name, MethodNames())
		info, ok = factor.Lookup(m.Name)
	}
	if ok {
		for _, of := range info.Settings() {
			text, ok := m.Params[of.Name].(string)
			if !ok || of.Values == nil {
				continue
			}
			names := strings.Split(text, "+") // of penalties
			for i := range names {
				names[i] = enum.Fold(names[i], of.Values)
			}
			m.Params[of.Name] = strings.Join(names, "+")
		}
	}
	return m.validate(v)
}

// validate builds the method to find invalid settings early.
func (m *Method) validate(v *settings.Value) error {
	place := func(key string) settings.Field {
		if f := v.Get(key); f.Value != nil {
			return f
		}
		return settings.Field{Key: v, Value: v}
	}
	switch as := place("as").Value; {
	case strings.TrimSpace(m.Name) == "":
		return v.Errorf("the method has no name")
	case m.As != "" && strings.TrimSpace(m.As) == "":
		return as.Want("a name")
	case len(m.title()) > maxName:
		return as.Errorf("the name is longer than %d bytes", maxName)
	}
	if err := checkBy(m.By, place("cluster").Value); err != nil {
		return err
	}
	own := []string{"name", "as"}
	if m.Results != "" {
		if _, err := filepath.Match(m.Results, ""); err != nil {
			return place("results").Value.Want("a pattern of files, such as results/*.npz")
		}
		if slices.Contains(MethodNames(), m.Name) {
			return place("name").Value.Errorf("%s is a method of partwise; give the results another name", m.Name)
		}
		own = append(own, "results", "cluster")
	}
	if OnFeatures(m.Name) || m.Results != "" {
		for _, f := range v.Fields {
			if key := f.Key.Text; !slices.Contains(own, key) {
				return f.Key.Errorf("%s has no parameter %q", m.Name, key)
			}
		}
		return nil
	}
	method, err := m.Build()
	var param *settings.Error
	switch {
	case errors.As(err, &param):
		info, _ := factor.Lookup(m.Name)
		keys := append(settings.Names(m), lists.Map(info.Settings(), func(p settings.Setting) string { return p.Name })...)
		if !slices.Contains(keys, param.Key) {
			return settings.UnknownKey(place(param.Key).Key, keys)
		}
		return place(param.Key).Value.Errorf("%v", err)
	case err != nil:
		return place("name").Value.Errorf("%v", err)
	}
	if m.Solver != "" {
		if err := factor.Serves(m.Solver.Solver(), method); err != nil {
			return place("solver").Value.Errorf("%v", err)
		}
	}
	return m.checkRestarts(place)
}

// checkRestarts returns an error for restarts that are all the same fit, and for a consensus of one.
func (m *Method) checkRestarts(place func(key string) settings.Field) error {
	switch restarts := place("restarts").Value; {
	case m.Init != "" && m.Init != factor.InitRandom && m.Needs().Unseeded:
		return place("init").Value.Errorf("init: %s has no initial factors", m.Name)
	case m.Restarts < 2 && m.Consensus:
		return place("consensus").Value.Errorf("consensus needs 2 or more restarts, such as restarts: 20")
	case m.Restarts < 2:
		m.Restarts = 0
	case m.Needs().Direct || m.Needs().Unseeded:
		return restarts.Errorf("restarts: %s has one solution and no random initial factors", m.Name)
	case m.Init == factor.InitNNDSVDa:
		return restarts.Errorf("restarts need random initial factors, but init is %s", m.Init)
	}
	return nil
}

// Variants returns the candidates of a method with Tune, or the method itself.
func (m Method) Variants() []Method {
	if m.Tune != nil {
		return m.Tune.Candidates
	}
	return []Method{m}
}

// ErrTune is the error for a choice of settings outside of an experiment.
var ErrTune = errors.New("tune is for experiments, which partwise run runs")

// ErrFixed is the error for a choice of the rank with fixed basis vectors.
var ErrFixed = errors.New("rank auto ignores fixed basis vectors: set a rank, or remove fixed-basis")

// ErrResults is the error for results of another program that are not used in an experiment.
var ErrResults = errors.New("results are for experiments, which partwise run runs")

// ResultFiles returns the files with the results of another program, nil for a method that partwise runs.
func (m Method) ResultFiles() []string {
	files, _ := filepath.Glob(m.Results) // the pattern was checked
	return files
}

// Build returns the method. It reads the file of fixed basis vectors.
func (m Method) Build() (factor.Method, error) {
	method, err := m.withoutFiles()
	if err != nil || m.FixedBasis == "" {
		return method, err
	}
	u, err := basisOf(m.FixedBasis)
	if err == nil {
		method, err = factor.ForBasis(method, u)
	}
	if err != nil {
		return nil, &settings.Error{Key: "fixed-basis", Message: err.Error()}
	}
	return method, nil
}

// withoutFiles returns the method without fixed basis vectors.
func (m Method) withoutFiles() (factor.Method, error) {
	if m.Results != "" {
		return nil, ErrResults
	}
	info, ok := factor.Lookup(m.Name)
	if !ok {
		return nil, fmt.Errorf("unknown method %q%s", m.Name, phrase.Choices(m.Name, MethodNames()))
	}
	return info.New(m.Params)
}

// basisOf reads the vectors of a file as the columns of a matrix, from a model or else from the rows of a file of vectors.
func basisOf(path string) (_ *mat.Dense, err error) {
	defer guard.Catch(&err)
	f := guard.Must(os.Open(path))
	defer f.Close()
	info := guard.Must(f.Stat())
	if z, err := npz.Open(f, info.Size()); err == nil && z.Has("kind") {
		model, err := factor.LoadModel(f, info.Size())
		if err == nil && model.Vectors() == nil {
			err = errors.New("a model without basis vectors in feature space")
		}
		guard.Check(guard.Wrap(err, "%s", path))
		return model.Vectors(), nil
	}
	content := guard.Must(vectorfile.Open(context.Background(), path, vectorfile.Options{}))
	return mat.DenseCopyOf(content.Vectors.T()), nil
}

// MethodNames returns the names of all methods.
func MethodNames() []string {
	names := append(Clusterers(), Original)
	return append(names, lists.Map(factor.Methods(), func(i factor.Info) string { return i.Name })...)
}

// title is the method's name in tables without swept settings.
func (m Method) title() string { return cmp.Or(m.As, m.Name) }

// Label returns the method's name in tables.
func (m Method) Label() string {
	label := m.title()
	for _, s := range m.Swept {
		label += " " + s.Name + "=" + s.Value
	}
	return label
}

// String describes the method and its settings in words.
func (m Method) String() string { return m.describe(nil) }

// describe describes the method and its settings, except those in leaveOut.
func (m Method) describe(leaveOut []string) string {
	out, chosen := m.Name, ""
	if m.Tune != nil {
		sweep := m.Tune.Candidates.Sweeps()[0]
		chosen = fmt.Sprintf(", %s chosen in each draw by %s", sweep, tuneRules[m.Tune.By])
		leaveOut = append(slices.Clip(leaveOut), sweep.Settings...)
	}
	add := func(said bool, key, format string, value any) {
		if said && !slices.Contains(leaveOut, key) {
			out += ", " + fmt.Sprintf(format, value)
		}
	}
	for _, key := range slices.Sorted(maps.Keys(m.Params)) {
		add(true, key, key+" %v", m.Params[key])
	}
	add(m.Init != "", "init", "init %s", m.Init)
	add(m.Solver != "", "solver", "solver %s", m.Solver)
	add(m.Iterations > 0, "iterations", "%d iterations", m.Iterations)
	add(m.Restarts > 0, "restarts", "%d restarts", m.Restarts)
	add(m.Consensus, "consensus", "%s", "consensus clusters")
	add(m.FixedBasis != "", "fixed-basis", "fixed basis vectors of %s", m.FixedBasis)
	add(m.Results != "", "results", "results of %s", m.Results)
	add(m.By != "", "cluster", "clustered by %s", m.By)
	if m.Recode != nil {
		add(true, "recode", "recode %v", *m.Recode)
	}
	add(m.Tolerance > 0, "tolerance", "tolerance %v", m.Tolerance)
	return out + chosen
}

// ClusteredBy returns the clustering algorithm of the method's representation, "" for k-means.
func (m Method) ClusteredBy(how Cluster) string {
	by := cmp.Or(m.By, how.By)
	if by == "" && m.Needs().Memberships {
		by = Largest
	}
	return by
}

// Needs are the requirements of a method and of its clustering.
type Needs struct {
	factor.Needs
	// NeedsLabels reports whether it needs labels of some samples; with TakesLinks, links also suffice.
	NeedsLabels, TakesLinks bool
}

// Needs returns the requirements of the method with its settings. A method that is no factorisation accepts values of
// any sign.
func (m Method) Needs() Needs {
	n := Needs{Needs: factor.Needs{Signed: true}}
	if method, err := m.withoutFiles(); err == nil {
		n.Needs = factor.NeedsOf(method)
	}
	n.NeedsLabels, n.TakesLinks = n.Labels, n.Links
	for _, by := range []string{m.Name, m.By} {
		if a, ok := cluster.Lookup(by); ok {
			n.NeedsLabels, n.TakesLinks = n.NeedsLabels || a.NeedsLabels, n.TakesLinks || a.TakesLinks
		}
	}
	return n
}

// LackLabels reports whether the method needs labels, and neither labels nor sufficient links are given.
func (n Needs) LackLabels(labels, links bool) bool {
	return n.NeedsLabels && !labels && !(n.TakesLinks && links)
}

// CheckClasses returns an error if the method called name cannot learn from labelled samples with sizes[c] samples of
// class c.
func (n Needs) CheckClasses(name string, sizes []int) error {
	if n.Classes != nil {
		if err := n.Classes(sizes); err != nil {
			return fmt.Errorf("%s: %w", name, err)
		}
	}
	return nil
}

// CheckFeatures returns an error if the method needs images or non-negative values and the features are others.
func (m Method) CheckFeatures(f Features) error {
	areImages := f.Joined == nil && f.Whiten == 0 && features.InfoOf(f.ExtractorOrPixels()).KeepsShape
	for _, m := range m.Variants() {
		switch needs := m.Needs(); {
		case !needs.Signed && f.Whiten > 0:
			return fmt.Errorf("%s needs values of 0 or more, but whitened features are signed; remove whiten, or choose a method such as kmeans", m.Label())
		case needs.Images && !areImages:
			return fmt.Errorf("%s needs images, but the features are %s; set features, such as pixels=32", m.Label(), f)
		}
	}
	return nil
}

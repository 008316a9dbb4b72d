package report

import (
	"cmp"
	"fmt"
	"image"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"

	"gonum.org/v1/gonum/mat"

	"github.com/seed4492f2cd/partwise/eval"
	"github.com/seed4492f2cd/partwise/factor"
	"github.com/seed4492f2cd/partwise/internal/guard"
	"github.com/seed4492f2cd/partwise/internal/lists"
	"github.com/seed4492f2cd/partwise/internal/text/phrase"
	"github.com/seed4492f2cd/partwise/internal/timing"
	"github.com/seed4492f2cd/partwise/pipeline/record"
	"github.com/seed4492f2cd/partwise/pipeline/spec"
	"github.com/seed4492f2cd/partwise/report/figure"
	"github.com/seed4492f2cd/partwise/report/table"
)

func sameName(name string) string { return name }

// convergence shows how the objectives fall: curves/convergence.png, ….
func convergence(w *experimentPage) any {
	curves, err := figure.Convergence(w.ctx, w.records, w.shownMethods, w.looks)
	return w.figure("curves/convergence", "Decrease of each method's objective with the iterations.", curves, err)
}

// terms shows the terms of objectives with a penalty: curves/terms-METHOD.png, ….
func terms(w *experimentPage) any {
	var views []methodView
	for name, method := range withSafeNames(w.shownMethods, sameName) {
		terms, err := figure.Terms(w.ctx, w.records, method, w.looks)
		if f := w.figure("curves/terms-"+name, "Objective of "+method+", its fit and its penalty against the iterations.", terms, err); f != nil {
			views = append(views, methodView{Method: method, Figure: f})
		}
	}
	return views
}

// coefficients shows the representations of samples: coefficients/METHOD.png.
func coefficients(w *experimentPage) any {
	found := slices.DeleteFunc(slices.Clone(w.experiment.Coefficients), func(c figure.Coefficients) bool { return !slices.Contains(w.shownMethods, c.Method) })
	if len(found) == 0 {
		return nil
	}
	view := &struct {
		Pictures []captioned
		Chosen   bool
	}{Chosen: w.chosen}
	for name, c := range withSafeNames(found, func(c figure.Coefficients) string { return c.Method }) {
		n, k := c.Values.Dims()
		alt := fmt.Sprintf("The %d coefficients of %s by %s, sorted by class, and the distances between samples.", k, phrase.Count(n, "sample", "samples"), c.Method)
		view.Pictures = append(view.Pictures, captioned{c.Method, w.picture("coefficients/"+name+".png", alt, func() (image.Image, error) {
			return figure.CoefficientPicture(w.ctx, c, w.experiment.Classes)
		})})
	}
	return view
}

// Basis is a basis that a method learned from images. Vectors is m×k, one basis vector a column, each an image of
// Height × Width pixels, row by row. With 3 Channels, the red, green and blue images follow each other (m =
// 3·Height·Width); 1 and 0 mean grey.
type Basis struct {
	Method                  string
	Vectors                 mat.Matrix
	Height, Width, Channels int
}

func partsOfMethods(w *experimentPage) any {
	shown := slices.DeleteFunc(slices.Clone(w.experiment.Bases), func(b Basis) bool { return !slices.Contains(w.shownMethods, b.Method) })
	return w.writeParts(shown, "", w.chosen)
}

func partsOfGroups(w *clustersPage) any {
	if w.clusters.Basis == nil {
		return nil
	}
	return w.writeParts([]Basis{*w.clusters.Basis}, w.clusters.noun(), false)
}

// writeParts writes a montage of each basis, bases/METHOD.png. thing is a sample of a grouping, or "".
func (p *page) writeParts(bases []Basis, thing string, chosen bool) any {
	if len(bases) == 0 {
		return nil
	}
	view := &struct {
		Thing          string
		Bases          []captioned
		Colour, Chosen bool
	}{Thing: thing, Colour: bases[0].Channels == 3, Chosen: chosen}
	for name, b := range withSafeNames(bases, func(b Basis) string { return b.Method }) {
		_, k := b.Vectors.Dims()
		kind, large := "", "white"
		if b.Channels == 3 {
			kind, large = "colour ", "bright"
		}
		alt := fmt.Sprintf("%s learned by %s, each as a %spicture of %d by %d pixels; %s is large.",
			phrase.Count(k, "part", "parts"), b.Method, kind, b.Width, b.Height, large)
		view.Bases = append(view.Bases, captioned{b.Method, p.picture("bases/"+name+".png", alt, func() (image.Image, error) {
			img, err := figure.Montage(p.ctx, b.Vectors, b.Height, b.Width, cmp.Or(b.Channels, 1))
			return img, guard.Wrap(err, "basis of %s", b.Method)
		})})
	}
	return view
}

// classes shows the classes of a classification: tables/class-accuracy.txt, …, confusion/METHOD.png, ….
func classes(w *experimentPage) any {
	e := w.experiment
	view := struct {
		Table      *tableView
		Confusions []methodView
		Long       bool
		Chosen     bool
	}{Chosen: w.chosen}
	var best []record.Record
	for name, p := range withSafeNames(w.peaks, func(p table.Peak) string { return p.Label }) {
		records := slices.DeleteFunc(slices.Clone(w.records), func(r record.Record) bool { return r.Method != p.Label || table.RowOf(r) != p.Row })
		best = append(best, records...)
		if len(e.Classes) > figure.MostConfused {
			continue
		}
		confusion, err := figure.Confusion(table.TotalConfusion(records, len(e.Classes)), e.Classes)
		f := w.figure("confusion/"+name, "Confusion matrix of "+p.Label+".", confusion, err)
		if f == nil {
			continue
		}
		v := methodView{Method: p.Label, Figure: f}
		if records[0].Row > 0 && records[0].Rank > 0 {
			v.Title = fmt.Sprintf("rank %d", records[0].Rank)
		}
		view.Confusions = append(view.Confusions, v)
	}
	t := table.PerClass(best, w.shownMethods, e.Classes, table.TestsOf(e.Summary))
	if len(t.Rows) == 0 {
		return nil
	}
	t.Name = e.Name
	view.Long = len(t.Rows) > 20
	view.Table = w.table("class-accuracy", t.Document())
	return view
}

type scoreTables struct {
	all  *table.Table
	best *table.Best
}

func (e Experiment) tablesOf(records []record.Record, score string) scoreTables {
	tests := table.TestsOf(e.Summary)
	t := scoreTables{table.New(records, score, e.Methods, tests), table.NewBest(records, score, e.Methods, e.Sweeps, tests)}
	t.all.Name = e.Name
	if t.best != nil {
		t.best.Table.Name = e.Name
	}
	return t
}

func (t scoreTables) first() interface {
	Finding() string
	Document() *table.Document
} {
	if t.best != nil {
		return t.best
	}
	return t.all
}

func findings(w *experimentPage) any {
	var found []string
	for _, t := range w.tables {
		if s := t.first().Finding(); s != "" && t.all.Score.Prominence > eval.Minor {
			found = append(found, s)
		}
	}
	return found
}

type scoreView struct {
	eval.Score
	Minor       bool       // below the main scores
	Best, Table *tableView // Best is shown first, or nil
	Curve       *figureView
	Sweeps      []*figureView
}

// scores shows the tables and curves of each score: tables/SCORE.txt, …, tables/best-SCORE.txt, …, curves/SCORE.png, …,
// curves/SCORE-by-SETTING.png, ….
func scores(w *experimentPage) any {
	var views []scoreView
	sweeps := w.experiment.Sweeps
	settings := lists.Unique(slices.Concat(lists.Map(sweeps, func(s spec.Sweep) []string { return s.Settings })...))
	for name, t := range withSafeNames(w.tables, func(t scoreTables) string { return t.all.Score.Name }) {
		v := scoreView{Score: t.all.Score, Minor: t.all.Score.Prominence == eval.Minor, Table: w.table(name, t.all.Document())}
		drawn := t.all
		if t.best != nil {
			v.Best = w.table("best-"+name, t.best.Document())
			drawn = table.New(w.records, v.Name, t.best.Table.Methods, table.TestsOf(w.experiment.Summary))
		}
		curves, err := figure.Curves(drawn, w.looks)
		v.Curve = w.figure("curves/"+name, v.Title+" of each method, as in the table. Bands are one standard error of the mean to each side.", curves, err)
		for file, setting := range withSafeNames(settings, sameName) {
			curves, err := figure.SweepCurves(t.all, sweeps, setting, w.looks)
			if f := w.figure("curves/"+name+"-by-"+file, v.Title+" against "+setting+".", curves, err); f != nil {
				v.Sweeps = append(v.Sweeps, f)
			}
		}
		views = append(views, v)
	}
	return views
}

type timesView struct {
	Lines, Methods [][]string // the cells of each row
	Judging, Words string     // the step after the factorisation, and the seconds for the visual words of draws or ""
}

type phase struct {
	name  string
	phase timing.Phase
}

var prepared = []phase{
	{"Reading the data", timing.Reading}, {"Features", timing.Features},
	{"of which descriptors", timing.Describing}, {"of which visual words", timing.Words},
}

// clustersTimes shows the times of a grouping, if the context counts them.
func clustersTimes(w *clustersPage) any {
	return w.times(nil, "", append(slices.Clip(prepared),
		phase{"Factorising", timing.Factorising}, phase{"of which set-up", timing.SetUp}, phase{"of which initial factors", timing.Initial},
		phase{"Grouping", timing.Grouping}, phase{"Scores", timing.Scores}))
}

// experimentTimes shows the times of an experiment.
func experimentTimes(w *experimentPage) any {
	judging := "Grouping"
	if classifies(w.records) {
		judging = "Classifying"
	}
	return w.times(w.experiment.Methods, judging, append(slices.Clip(prepared), phase{"Trials", timing.Trials}))
}

func (p *page) times(methods []string, judging string, phases []phase) any {
	t := timing.FromContext(p.ctx)
	if t == nil {
		return nil
	}
	// The set-up does not include the initial factors.
	spent := func(method string, p timing.Phase) time.Duration {
		took := t.Spent(method, p).Time
		if p == timing.SetUp {
			took -= t.Spent(method, timing.Initial).Time
		}
		return took
	}
	all := t.Elapsed()
	v := timesView{Judging: judging}
	add := func(name string, d time.Duration) {
		v.Lines = append(v.Lines, []string{name, seconds(d), fmt.Sprintf("%.0f %%", 100*d.Seconds()/max(all.Seconds(), 1e-9))})
	}
	rest := all
	for _, p := range phases {
		took, part := spent("", p.phase), strings.HasPrefix(p.name, "of which ")
		if !part {
			rest -= took
		}
		if !part || took > 0 {
			add(p.name, took)
		}
	}
	add("Images, the page and the rest", rest)
	v.Lines = append(v.Lines, []string{"Total", seconds(all), ""})
	for _, m := range methods {
		trials := t.Spent(m, timing.Scores).Count
		if trials == 0 {
			continue
		}
		words := []string{m, strconv.Itoa(trials)}
		for _, p := range []timing.Phase{timing.Factorising, timing.SetUp, timing.Initial, timing.Grouping, timing.Scores} {
			text := seconds(spent(m, p))
			if t.Spent(m, p).Count == 0 {
				text = "–"
			}
			words = append(words, text)
		}
		v.Methods = append(v.Methods, words)
	}
	if drawn := t.Spent("", timing.DrawnWords); drawn.Count > 0 {
		v.Words = seconds(drawn.Time)
	}
	return v
}

func seconds(d time.Duration) string { return fmt.Sprintf("%.2f", d.Seconds()) }

// counts shows the choice of the number of groups: curves/groups.png, ….
func counts(w *clustersPage) any {
	c := w.clusters.Counts
	if c == nil {
		return nil
	}
	curve, err := figure.CountCurve(c)
	v := w.figure("curves/groups", "Description length, silhouette and stability of each number of groups.", curve, err)
	return &struct {
		*figureView
		Chosen  int
		Samples string
	}{v, c.K[c.Best], w.clusters.Count(c.Samples)}
}

// ranksView shows the choice of a number: of one grouping, or of an experiment's draws, which have a Table and the number
// of Classes of those in Figure.
type ranksView struct {
	Figure     *figureView
	Chosen, By string
	Table      *tableView
	Classes    int
}

const rankAlt = "Misfit of held-out values and stability of the basis vectors at each rank."

// chosenRank shows the choice of a grouping's rank: curves/rank.png, ….
func chosenRank(w *clustersPage) any {
	c := w.clusters.Ranks
	if c == nil {
		return nil
	}
	curve, err := figure.RankCurve(c.Curve, c.Rank)
	s := c.String()
	return &ranksView{Figure: w.figure("curves/rank", rankAlt, curve, err), Chosen: strings.ToUpper(s[:1]) + s[1:], By: c.By.String()}
}

// drawnCounts shows the numbers of groups chosen for draws: tables/groups.txt, … and curves/groups.png, ….
func drawnCounts(w *experimentPage) any {
	rows, last := chosenRows(drawsOf(w.records, func(r record.Record) bool { return r.Count != nil }), func(r record.Record) int { return r.Count.K })
	if rows == nil {
		return nil
	}
	curve, err := figure.LengthCurve(meanLengths(last))
	v := w.figure("curves/groups", "Description length of each number of clusters.", curve, err)
	return &ranksView{Figure: v, Table: w.table("groups", table.ChosenDocument(w.Name, "numbers of clusters", rows, true)), Classes: last[0].Classes}
}

// ranks shows the ranks chosen for draws: tables/ranks.txt, … and curves/rank.png, ….
func ranks(w *experimentPage) any {
	rows, last := chosenRows(drawsOf(w.records, func(r record.Record) bool { return r.Choice != nil }), func(r record.Record) int { return r.Choice.Rank })
	if rows == nil {
		return nil
	}
	curve, err := figure.RankCurve(meanCurve(last), 0)
	v, t := w.figure("curves/rank", rankAlt, curve, err), w.table("ranks", table.ChosenDocument(w.Name, "ranks", rows, false))
	return &ranksView{Figure: v, Table: t, Classes: last[0].Classes, By: last[0].Choice.By.String()}
}

// drawsOf returns one record of each draw that holds a choice, sorted by classes and repeat.
func drawsOf(records []record.Record, holds func(record.Record) bool) []record.Record {
	out := slices.DeleteFunc(slices.Clone(records), func(r record.Record) bool { return !holds(r) })
	order := func(a, b record.Record) int {
		return cmp.Or(cmp.Compare(a.Classes, b.Classes), cmp.Compare(a.Repeat, b.Repeat))
	}
	slices.SortStableFunc(out, order)
	return slices.CompactFunc(out, func(a, b record.Record) bool { return order(a, b) == 0 })
}

// chosenRows lists the choices for draws by number of classes, and returns the draws with the most classes.
func chosenRows(draws []record.Record, chosen func(record.Record) int) (rows []table.Chosen, last []record.Record) {
	for _, r := range draws {
		if len(last) == 0 || last[0].Classes != r.Classes {
			rows, last = append(rows, table.Chosen{Classes: r.Classes}), nil
		}
		row := &rows[len(rows)-1]
		row.Numbers, last = append(row.Numbers, chosen(r)), append(last, r)
	}
	return rows, last
}

// meanLengths returns the mean description lengths of draws at the numbers that all have.
func meanLengths(draws []record.Record) (from int, lengths []float64) {
	from, to := 0, math.MaxInt
	for _, r := range draws {
		from, to = max(from, r.Count.From), min(to, r.Count.From+len(r.Count.Length))
	}
	for k := from; k < to; k++ {
		lengths = append(lengths, meanOf(draws, func(r record.Record) float64 { return r.Count.Length[k-r.Count.From] }))
	}
	return from, lengths
}

// meanCurve returns the mean curve of draws over the ranks that all have.
func meanCurve(draws []record.Record) *factor.RankCurve {
	mean := &factor.RankCurve{}
	for _, k := range draws[0].Choice.Curve.Rank {
		at := func(r record.Record) int { return slices.Index(r.Choice.Curve.Rank, k) }
		if slices.ContainsFunc(draws, func(r record.Record) bool { return at(r) < 0 }) {
			continue
		}
		mean.Rank = append(mean.Rank, k)
		mean.Misfit = append(mean.Misfit, meanOf(draws, func(r record.Record) float64 { return r.Choice.Curve.Misfit[at(r)] }))
		mean.Deviation = append(mean.Deviation, meanOf(draws, func(r record.Record) float64 { return r.Choice.Curve.Deviation[at(r)] }))
		mean.Stability = append(mean.Stability, meanOf(draws, func(r record.Record) float64 { return r.Choice.Curve.Stability[at(r)] }))
	}
	return mean
}

func meanOf(draws []record.Record, value func(record.Record) float64) float64 {
	var sum float64
	for _, r := range draws {
		sum += value(r)
	}
	return sum / float64(len(draws))
}

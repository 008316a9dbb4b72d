package report

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"

	"gonum.org/v1/plot/vg"

	"github.com/seed4492f2cd/partwise/eval"
	"github.com/seed4492f2cd/partwise/internal/atomicfile"
	"github.com/seed4492f2cd/partwise/internal/output"
	"github.com/seed4492f2cd/partwise/pipeline"
)

// experimentWriter writes the files of an experiment's page, section by section.
type experimentWriter struct {
	folder
	experiment Experiment
	// records are the finished ones.
	records []pipeline.Record
	looks   Looks
	// peaks are the methods at their best by the first score.
	peaks []peak
}

// scores writes each score's tables and curves.
func (w *experimentWriter) scores(view *experimentView) error {
	scores := scoresOf(w.records)
	for i, name := range safeNames(scores) {
		v, found, err := w.score(scores[i], name)
		if err != nil {
			return err
		}
		if scoreOf(scores[i]).Prominence == eval.Minor {
			view.More = append(view.More, v)
			continue
		}
		view.Scores = append(view.Scores, v)
		if found != "" {
			view.Findings = append(view.Findings, found)
		}
	}
	return nil
}

// score writes one score into files of this name, and says which method is the
// best.
func (w *experimentWriter) score(score, name string) (v scoreView, found string, err error) {
	e := w.experiment
	t := NewTable(w.records, score, e.Methods)
	t.Name = e.Name
	v = scoreView{Title: t.Score.Title, Meaning: t.Score.Help, Table: newTableView(t)}
	if v.Table.Files, err = w.table(name, t); err != nil {
		return v, "", err
	}
	found = finding(t)
	drawn := t
	if best := NewBest(w.records, score, e.Methods, e.Sweeps); best != nil {
		best.Table.Name = e.Name
		v.Best = newBestView(best)
		if v.Best.Files, err = w.table("best-"+name, best); err != nil {
			return v, "", err
		}
		found = best.finding()
		drawn = NewTable(w.records, score, best.Table.Methods)
	}
	figure, err := Curves(drawn, w.looks)
	if err == nil {
		v.Curve, err = w.figure("curves/"+name, v.Title+" of each method, drawn from the table.", figure)
	}
	if err != nil && !errors.Is(err, ErrNoData) {
		return v, "", err
	}
	settings := settingsOf(e.Sweeps)
	for i, setting := range safeNames(settings) {
		figure, err := SweepCurves(t, e.Sweeps, settings[i], w.looks)
		if errors.Is(err, ErrNoData) {
			continue
		}
		if err != nil {
			return v, "", err
		}
		f, err := w.figure("curves/"+name+"-by-"+setting, v.Title+" against "+settings[i]+".", figure)
		if err != nil {
			return v, "", err
		}
		v.Sweeps = append(v.Sweeps, f)
	}
	return v, found, nil
}

// classes writes how the single classes of a classification fare: each method at
// its best.
func (w *experimentWriter) classes(view *experimentView) error {
	e := w.experiment
	var best []pipeline.Record
	for i, name := range safeNames(labels(w.peaks)) {
		p := w.peaks[i]
		at := slices.DeleteFunc(slices.Clone(w.records), func(r pipeline.Record) bool { return r.Method != p.label || rowOf(r) != p.row })
		best = append(best, at...)
		if len(e.Classes) > mostConfused {
			continue
		}
		figure, err := Confusion(totalConfusion(at, len(e.Classes)), e.Classes)
		if errors.Is(err, ErrNoData) {
			continue
		}
		if err != nil {
			return err
		}
		v := methodView{Method: p.label}
		if at[0].Row > 0 && at[0].Rank > 0 {
			v.Title = fmt.Sprintf("rank %d", at[0].Rank)
		}
		if v.Figure, err = w.figure("confusion/"+name, "Which classes "+p.label+" takes for which.", figure); err != nil {
			return err
		}
		view.Confusions = append(view.Confusions, v)
	}
	t := PerClass(best, labels(w.peaks), e.Classes)
	if len(t.Rows) == 0 {
		return nil
	}
	t.Name = e.Name
	v := newTableView(t)
	var err error
	v.Files, err = w.table("class-accuracy", t)
	view.PerClass = &v
	return err
}

// iterations writes how the objectives fall.
func (w *experimentWriter) iterations(view *experimentView) error {
	shown := labels(w.peaks)
	figure, err := Convergence(w.records, shown, w.looks)
	if err == nil {
		view.Convergence, err = w.figure("curves/convergence", "How fast the objective of each method falls with the iterations.", figure)
	}
	if err != nil && !errors.Is(err, ErrNoData) {
		return err
	}
	for i, name := range safeNames(shown) {
		figure, err := Terms(w.records, shown[i], w.looks)
		if errors.Is(err, ErrNoData) {
			continue
		}
		if err != nil {
			return err
		}
		f, err := w.figure("curves/terms-"+name, "The objective of "+shown[i]+", its fit and its penalty against the iterations.", figure)
		if err != nil {
			return err
		}
		view.Terms = append(view.Terms, methodView{Method: shown[i], Figure: f})
	}
	return nil
}

// pictures writes the parts and the coefficients of the methods shown.
func (w *experimentWriter) pictures(view *experimentView) error {
	shown := labels(w.peaks)
	bases := slices.DeleteFunc(slices.Clone(w.experiment.Bases), func(b Basis) bool { return !slices.Contains(shown, b.Method) })
	var err error
	if view.Bases, err = writeBases(w.folder, bases); err != nil {
		return err
	}
	var names []string
	var found []Coefficients
	for _, c := range w.experiment.Coefficients {
		if slices.Contains(shown, c.Method) {
			names, found = append(names, c.Method), append(found, c)
		}
	}
	for i, name := range safeNames(names) {
		img, err := CoefficientPicture(found[i], w.experiment.Classes)
		if err != nil {
			return err
		}
		n, k := found[i].Values.Dims()
		size := img.Bounds().Size()
		v := basisView{Method: names[i], Picture: picture{
			Path:  "coefficients/" + name + ".png",
			Alt:   fmt.Sprintf("The %d coefficients of %s by %s, in the order of their classes, and the distances between them.", k, count(n, "sample", "samples"), names[i]),
			Width: size.X, Height: size.Y,
		}}
		if err := w.png(v.Picture.Path, img); err != nil {
			return err
		}
		view.Coefficients = append(view.Coefficients, v)
	}
	return nil
}

// photographsFile keeps what a page shows of photographs, for pages that are
// made without them.
const photographsFile = "photographs.json"

// CopyPhotographs copies into a folder, to which an experiment is then written
// without photographs, what the page in from says of them. It returns the folders
// of the pictures, which are not copied, or nil where that page has none.
func CopyPhotographs(to, from string) (pictures []string, err error) {
	text, err := output.ReadFile(filepath.Join(from, photographsFile))
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	return []string{"patches/", "words/"}, atomicfile.Write(filepath.Join(to, photographsFile), text)
}

// photographs writes the parts and the visual words on photographs, or takes
// those that were written before.
func (w *experimentWriter) photographs(view *experimentView) error {
	if w.experiment.Patches == nil && w.experiment.Words == nil {
		text, err := os.ReadFile(filepath.Join(w.dir, photographsFile))
		if errors.Is(err, fs.ErrNotExist) {
			return nil
		}
		if err != nil {
			return err
		}
		if err := json.Unmarshal(text, &view.photographsView); err != nil {
			return fmt.Errorf("%s: %w", filepath.Join(w.dir, photographsFile), err)
		}
		if err := view.photographsView.check(); err != nil {
			return fmt.Errorf("%s: %w", filepath.Join(w.dir, photographsFile), err)
		}
		return nil
	}
	shown := labels(w.peaks)
	patches := slices.DeleteFunc(slices.Clone(w.experiment.Patches), func(p Patches) bool { return !slices.Contains(shown, p.Method) })
	var failed []string
	var err error
	if view.photographsView, failed, err = writePhotographs(w.folder, patches, w.experiment.Words); err != nil {
		return err
	}
	view.Warnings = append(view.Warnings, failed...)
	return w.write(photographsFile, func(to io.Writer) error { return json.NewEncoder(to).Encode(view.photographsView) })
}

// tableWriter is a table of any kind.
type tableWriter interface {
	Text(io.Writer, TextOptions) error
	Markdown(io.Writer) error
	CSV(io.Writer) error
	LaTeX(io.Writer) error
}

// table writes a table in four formats.
func (w *experimentWriter) table(name string, t tableWriter) ([]fileView, error) {
	var files []fileView
	for _, format := range []struct {
		label, extension string
		write            func(io.Writer) error
	}{
		{"text", "txt", func(w io.Writer) error { return t.Text(w, TextOptions{}) }},
		{"Markdown", "md", t.Markdown},
		{"CSV", "csv", t.CSV},
		{"LaTeX", "tex", t.LaTeX},
	} {
		path := "tables/" + name + "." + format.extension
		if err := w.write(path, format.write); err != nil {
			return nil, err
		}
		files = append(files, fileView{format.label, path})
	}
	return files, nil
}

// figure writes a figure in three formats.
func (w *experimentWriter) figure(path, alt string, f *Figure) (*figureView, error) {
	width, height := f.canvasSize()
	v := &figureView{
		PNG: path + ".png", SVG: path + ".svg", PDF: path + ".pdf", Alt: alt,
		Width: int(96 * width / vg.Inch), Height: int(96 * height / vg.Inch),
	}
	if err := w.write(v.PNG, f.PNG); err != nil {
		return nil, err
	}
	if err := w.write(v.SVG, f.SVG); err != nil {
		return nil, err
	}
	return v, w.write(v.PDF, f.PDF)
}

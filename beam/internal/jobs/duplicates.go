package jobs

import (
	"bytes"
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/gob"
	"fmt"
	"image"
	"image/jpeg"
	"os"
	"path"
	"slices"
	"strings"
	"time"

	"github.com/apache/beam/sdks/v2/go/pkg/beam"

	"github.com/seed4492f2cd/partwise/beam/internal/store"
	"github.com/seed4492f2cd/partwise/datasets"
	"github.com/seed4492f2cd/partwise/datasets/vectorfile"
	"github.com/seed4492f2cd/partwise/internal/lists"
	"github.com/seed4492f2cd/partwise/pictures"
	"github.com/seed4492f2cd/partwise/pipeline/input"
	"github.com/seed4492f2cd/partwise/pipeline/shards"
	"github.com/seed4492f2cd/partwise/pipeline/spec"
	"github.com/seed4492f2cd/partwise/report"
)

// Album is a folder of images in shards, with a work folder for their looks. The steps of duplicates embed it.
type Album struct {
	Data, Root, Work string
	Of               int
	Firsts           []int // the number of the first image of each shard, then the number of all
}

type (
	Examine struct{ Album } // writes the looks of a shard of the images
	Enter   struct{ Album } // emits the entries of different images, by partition of the buckets
	Meet    struct{ Album } // emits the candidates of the buckets of a partition, by image
	Choose  struct{ Album } // emits the pairs of an image that must be compared, by their two shards
	Verify  struct{ Album } // emits the links among pairs of images of two shards
	Links   struct{ Album } // writes all links to a file
)

// Duplicates finds copies and bursts of images in n shards, and writes their list.
func Duplicates(ctx context.Context, job Shard, n int) (copies int, err error) {
	folder, name := path.Split(job.Out)
	a := Album{Data: job.Data, Root: job.Root, Work: folder + shards.Beside + name, Of: n}
	err = inFolder(func(dir string) error { return checkNew(ctx, job.Out, dir, job.Force) })
	if err != nil {
		return 0, err
	}
	if err = makeFolder(a.Work); err != nil {
		return 0, err
	}
	if err = run(ctx, eachShard(&Examine{a}, n)); err != nil {
		return 0, err
	}
	err = inFolder(func(dir string) (err error) { copies, err = a.find(ctx, job.Out, dir); return err })
	return copies, err
}

func (a Album) find(ctx context.Context, out, dir string) (copies int, err error) {
	var photos []input.Examined
	var bad []datasets.BadFile
	for i := range a.Of {
		var some examined
		if err := a.decode(ctx, fileOf(i, a.Of), dir, new(string), &some); err != nil {
			return 0, err
		}
		a.Firsts = append(a.Firsts, len(photos))
		photos, bad = append(photos, some.Photos...), append(bad, some.Bad...)
	}
	a.Firsts = append(a.Firsts, len(photos))
	found, from := input.Originals(photos)
	distinct := make([]byte, len(photos)/8+1)
	for i := range photos {
		if from.Same[i] == i {
			distinct[i/8] |= 1 << (i % 8)
		}
	}
	if err := run(ctx, a.comparing(distinct)); err != nil {
		return 0, err
	}
	if err := a.join(ctx, photos, found, from, dir); err != nil {
		return 0, err
	}
	for i, of := range found.CopyOf {
		copies += map[bool]int{true: 1}[of != i]
	}
	names := lists.Map(photos, func(e input.Examined) string { return e.Name })
	if err := publish(ctx, report.PicturesCSV(names, found), out); err != nil {
		return 0, err
	}
	if err := publishBad(ctx, bad, out); err != nil {
		return 0, err
	}
	_ = store.Remove(ctx, a.Work+"/"+linksFile) // and other files that the job wrote
	for i := range a.Of {
		_ = store.Remove(ctx, a.Work+"/"+fileOf(i, a.Of))
	}
	_ = os.Remove(strings.TrimPrefix(a.Work, "file://")) // fails if files of others are left
	return copies, nil
}

// comparing returns the pipeline of the shuffle: images meet in buckets, their candidates make pairs, and pairs make links.
func (a Album) comparing(distinct []byte) *beam.Pipeline {
	p, s := beam.NewPipelineWithRoot()
	names := beam.Reshuffle(s, beam.CreateList(s, shardsOf(a.Of)))
	entries := beam.ParDo(s, &Enter{a}, names, beam.SideInput{Input: beam.Create(s, distinct)})
	candidates := beam.ParDo(s, &Meet{a}, beam.GroupByKey(s, entries))
	pairs := beam.ParDo(s, &Choose{a}, beam.GroupByKey(s, candidates))
	links := beam.ParDo(s, &Verify{a}, beam.GroupByKey(s, pairs))
	beam.ParDo0(s, &Links{a}, beam.Impulse(s), beam.SideInput{Input: links})
	return p
}

// encode returns values in the format of gob.
func encode(values ...any) ([]byte, error) {
	var text bytes.Buffer
	e := gob.NewEncoder(&text)
	for _, v := range values {
		if err := e.Encode(v); err != nil {
			return nil, err
		}
	}
	return text.Bytes(), nil
}

// emitLists emits lists by their keys.
func emitLists[T any](groups map[int][]T, emit func(int, []byte)) error {
	for key, list := range groups {
		text, err := encode(list)
		if err != nil {
			return err
		}
		emit(key, text)
	}
	return nil
}

// join returns the lists of a group as one list. The order of a group varies.
func join[T any](each func(*[]byte) bool) (all []T, err error) {
	var text []byte
	for each(&text) {
		var some []T
		if err := gob.NewDecoder(bytes.NewReader(text)).Decode(&some); err != nil {
			return nil, err
		}
		all = append(all, some...)
	}
	return all, nil
}

const linksFile = "links.gob"

// examined is the content of the file of a shard, after its identity and before the looks with their thumbnails.
type examined struct {
	Photos []input.Examined
	Bad    []datasets.BadFile
}

// fileOf returns the name of the file with the looks of a shard.
func fileOf(i, n int) string { return vectorfile.Shard{Index: i, Of: n}.File("looks", ".gob") }

// shardOf returns the shard of an image.
func (a Album) shardOf(image int) int {
	next, _ := slices.BinarySearch(a.Firsts, image+1)
	return next - 1
}

func (a Album) open(ctx context.Context) (*datasets.Set, error) {
	e := spec.Experiment{Features: spec.Features{SkipBad: true}}
	e.Data.Set, e.Data.Root, e.Data.NoClasses = a.Data, a.Root, true
	set, err := input.Open(ctx, &e)
	if err == nil && set.Files == nil {
		set.Close()
		err = fmt.Errorf("%s: the samples are not image files", a.Data)
	}
	return set, err
}

// decode reads the first values of a file of the work folder.
func (a Album) decode(ctx context.Context, name, dir string, values ...any) error {
	file, err := store.Fetch(ctx, a.Work+"/"+name, dir)
	if err != nil {
		return err
	}
	f, err := os.Open(file)
	if err != nil {
		return err
	}
	defer f.Close()
	d := gob.NewDecoder(f)
	for _, v := range values {
		if err := d.Decode(v); err != nil {
			return fmt.Errorf("%s: %w", file, err)
		}
	}
	return nil
}

// looks returns the facts of the images of a shard, and their looks with thumbnails.
func (a Album) looks(ctx context.Context, shard int, dir string) (photos []input.Examined, blobs [][]byte, err error) {
	var some examined
	err = a.decode(ctx, fileOf(shard, a.Of), dir, new(string), &some, &blobs)
	return some.Photos, blobs, err
}

// ProcessElement examines a shard, unless its file of the same images exists.
func (x *Examine) ProcessElement(ctx context.Context, shard string) error {
	if err := before(shard); err != nil {
		return err
	}
	of, err := vectorfile.ParseShard(shard)
	if err != nil {
		return err
	}
	set, err := x.open(ctx)
	if err != nil {
		return err
	}
	defer set.Close()
	from, to := of.Rows(set.Len())
	h := sha256.New()
	fmt.Fprintln(h, pictures.Version)
	for i := from; i < to; i++ {
		if info, err := os.Stat(set.Files[i]); err == nil {
			fmt.Fprintf(h, "%q %d %d\n", set.Names[i], info.Size(), info.ModTime().UnixNano())
		}
	}
	identity, stored := fmt.Sprintf("%x", h.Sum(nil)), ""
	if err := inFolder(func(dir string) error { return x.decode(ctx, fileOf(of.Index, of.Of), dir, &stored) }); err == nil && stored == identity {
		return nil
	}
	all, blobs, bad, err := input.Examine(ctx, set, from, to)
	if err != nil {
		return err
	}
	text, err := encode(identity, examined{all, bad}, blobs)
	if err != nil {
		return err
	}
	return publish(ctx, text, x.Work+"/"+fileOf(of.Index, of.Of))
}

// ProcessElement enters the images of a shard whose bits are set.
func (x *Enter) ProcessElement(ctx context.Context, shard string, distinct []byte, emit func(int, []byte)) error {
	of, err := vectorfile.ParseShard(shard)
	if err != nil {
		return err
	}
	var photos []input.Examined
	var blobs [][]byte
	if err := inFolder(func(dir string) (err error) { photos, blobs, err = x.looks(ctx, of.Index, dir); return err }); err != nil {
		return err
	}
	partitions := map[int][]pictures.Entry{}
	for at, blob := range blobs {
		i := x.Firsts[of.Index] + at
		if distinct[i/8]>>(i%8)&1 == 0 {
			continue
		}
		var look pictures.Look
		if _, err := look.Cut(blob); err != nil {
			return err
		}
		for _, e := range look.Entries(i, x.Firsts[x.Of], photos[at].Capture.Taken) {
			p := int(e.Hash % uint64(4*x.Of))
			partitions[p] = append(partitions[p], e)
		}
	}
	return emitLists(partitions, emit)
}

// ProcessElement finds the candidates in the buckets of a partition.
func (*Meet) ProcessElement(_ int, each func(*[]byte) bool, emit func(int, []byte)) error {
	entries, err := join[pictures.Entry](each)
	if err != nil {
		return err
	}
	return emitLists(pictures.Meet(entries), emit)
}

// ProcessElement chooses the pairs of an image.
func (x *Choose) ProcessElement(image int, each func(*[]byte) bool, emit func(int, []byte)) error {
	candidates, err := join[pictures.Candidate](each)
	if err != nil {
		return err
	}
	groups := map[int][]pictures.Pair{}
	for _, p := range pictures.Chosen(image, candidates) {
		key := x.shardOf(p.A)*x.Of + x.shardOf(p.B)
		groups[key] = append(groups[key], p)
	}
	return emitLists(groups, emit)
}

// ProcessElement compares pairs of images of two shards.
func (x *Verify) ProcessElement(ctx context.Context, _ int, each func(*[]byte) bool, emit func(int, []byte)) error {
	pairs, err := join[pictures.Pair](each)
	if err != nil {
		return err
	}
	var ids []int
	for _, p := range pairs {
		ids = append(ids, p.A, p.B)
	}
	slices.Sort(ids)
	ids = slices.Compact(ids)
	for i, p := range pairs {
		pairs[i].A, pairs[i].B = place(ids, p.A), place(ids, p.B)
	}
	return inFolder(func(dir string) error {
		from, err := x.source(ctx, ids, dir)
		if err != nil {
			return err
		}
		links, err := from.Compare(ctx, pictures.Unique(pairs))
		if err != nil {
			return err
		}
		for i, l := range links {
			links[i].A, links[i].B = ids[l.A], ids[l.B]
		}
		return emitLists(map[int][]pictures.Link{0: links}, emit)
	})
}

func place(ids []int, id int) int {
	at, _ := slices.BinarySearch(ids, id)
	return at
}

// source gives access to some images, which it numbers from 0.
func (a Album) source(ctx context.Context, ids []int, dir string) (s pictures.Source, err error) {
	s.Looks, s.Taken = make([]*pictures.Look, len(ids)), make([]time.Time, len(ids))
	thumbnails, opened := make([][]byte, len(ids)), -1
	var photos []input.Examined
	var blobs [][]byte
	for at, id := range ids {
		if shard := a.shardOf(id); shard != opened {
			if photos, blobs, err = a.looks(ctx, shard, dir); err != nil {
				return s, err
			}
			opened = shard
		}
		i := id - a.Firsts[opened]
		s.Looks[at], s.Taken[at] = &pictures.Look{}, photos[i].Capture.Taken
		if thumbnails[at], err = s.Looks[at].Cut(blobs[i]); err != nil {
			return s, err
		}
	}
	s.Thumbnail = func(_ context.Context, at int) (image.Image, error) {
		return jpeg.Decode(bytes.NewReader(thumbnails[at]))
	}
	return s, nil
}

// ProcessElement writes the links in a fixed order.
func (x *Links) ProcessElement(ctx context.Context, _ []byte, each func(*int, *[]byte) bool) error {
	var key int
	links, err := join[pictures.Link](func(text *[]byte) bool { return each(&key, text) })
	if err != nil {
		return err
	}
	slices.SortFunc(links, func(a, b pictures.Link) int { return cmp.Or(a.A-b.A, a.B-b.B, int(a.By)-int(b.By)) })
	text, err := encode(links)
	if err != nil {
		return err
	}
	return publish(ctx, text, x.Work+"/"+linksFile)
}

// join finds the stacks that the links make.
func (a Album) join(ctx context.Context, photos []input.Examined, found *input.Pictures, from pictures.Source, dir string) error {
	var links []pictures.Link
	if err := a.decode(ctx, linksFile, dir, &links); err != nil {
		return err
	}
	var ids []int
	for _, l := range links {
		ids = append(ids, l.A, l.B)
	}
	slices.Sort(ids)
	ids = slices.Compact(ids)
	some, err := a.source(ctx, ids, dir)
	if err != nil {
		return err
	}
	set, err := a.open(ctx)
	if err != nil {
		return err
	}
	defer set.Close()
	from.Looks, from.Equal = make([]*pictures.Look, len(photos)), input.SamePixels(set, photos)
	from.Thumbnail = func(ctx context.Context, i int) (image.Image, error) { return some.Thumbnail(ctx, place(ids, i)) }
	for at, id := range ids {
		from.Looks[id] = some.Looks[at]
	}
	stacks, err := from.Join(ctx, links)
	if err != nil {
		return err
	}
	found.SetStacks(stacks)
	return nil
}

package pictures

import (
	"cmp"
	"math/bits"
	"math/rand/v2"
	"slices"
	"sync"
	"time"

	"gonum.org/v1/gonum/floats"
)

const (
	bands     = 32 // hashes of the rough image, each of several signs of random projections (Charikar 2002)
	mostSigns = 32 // largest number of signs of a hash
	meetings  = 16 // number of later images of a hash with which each rough image meets
)

// Entry puts an image into the bucket of a hash, where it meets others. The kind is a symmetry of a key point that looks for
// images, or one of the constants below.
type Entry struct {
	Hash  uint64
	Order uint64 // in the bucket: the signs of a rough image, or the time
	Image uint32
	Kind  uint8
}

const (
	kindPoints uint8 = 8 + iota // an image with key points of the hash
	kindRough
	kindTime
	kindEarlier // a time in the bucket of the next one
)

// Candidate is an image that may be a copy of another one. Without Votes, the pair is compared in any case.
type Candidate struct {
	Image  uint32
	Votes  uint16 // common hashes of key points
	G      Symmetry
	Points bool
}

// planes holds the normal vectors of random hyperplanes of rough images.
var hyperplanes = sync.OnceValue(func() (normals [bands * mostSigns][]float64) {
	src := rand.New(rand.NewPCG(3, 3))
	for i := range normals {
		for range roughSide * roughSide {
			normals[i] = append(normals[i], src.NormFloat64())
		}
	}
	return normals
})

// Entries returns the entries of an image, one of n different images.
func (l *Look) Entries(image, n int, taken time.Time) (all []Entry) {
	if !l.usable() {
		return nil
	}
	add := func(group int, hash, order uint64, kind uint8) {
		all = append(all, Entry{uint64(group)<<56 | hash, order, uint32(image), kind})
	}
	for k := range l.points {
		for table, bits := range chosen() {
			add(table, hash(bits, &l.points[k].Bits), 0, kindPoints)
			for g := range Symmetry(8) {
				turned := l.points[k].under(g)
				add(table, hash(bits, &turned), 0, uint8(g))
			}
		}
	}
	if rough := l.Rough(); slices.Max(rough) > 0 {
		var signs [bands * mostSigns / 64]uint64
		for i, normal := range hyperplanes() {
			if floats.Dot(normal, rough) > 0 {
				signs[i/64] |= 1 << (i % 64)
			}
		}
		// With twice as many buckets as images, an image meets few others by chance.
		used := min(max(bits.Len(uint(n))+1, 8), mostSigns)
		for band := range bands {
			sign := signs[band*mostSigns/64] >> (band * mostSigns % 64) & (1<<used - 1)
			add(tables+band, sign, signs[0], kindRough)
		}
	}
	if !taken.IsZero() {
		at := taken.UnixMicro() - time.Time{}.UnixMicro()
		bucket := uint64(at / (burstSeconds * time.Second.Microseconds()))
		add(tables+bands, bucket, uint64(at), kindTime)
		add(tables+bands, bucket+1, uint64(at), kindEarlier)
	}
	return all
}

// Meet returns the candidates of each image in some buckets, given all of their entries.
func Meet(entries []Entry) map[int][]Candidate {
	slices.SortFunc(entries, func(a, b Entry) int {
		return cmp.Or(cmp.Compare(a.Hash, b.Hash), cmp.Compare(a.Order, b.Order), cmp.Compare(a.Image, b.Image), cmp.Compare(a.Kind, b.Kind))
	})
	found := map[int][]Candidate{}
	votes := map[Pair]int{}
	add := func(a, b Entry, points bool) {
		if a.Image != b.Image {
			found[int(min(a.Image, b.Image))] = append(found[int(min(a.Image, b.Image))], Candidate{Image: max(a.Image, b.Image), Points: points})
		}
	}
	for from := 0; from < len(entries); {
		to := from + 1
		for to < len(entries) && entries[to].Hash == entries[from].Hash {
			to++
		}
		bucket := entries[from:to]
		from = to
		switch group := bucket[0].Hash >> 56; {
		case group < tables:
			vote(bucket, votes)
		case group < tables+bands:
			for at, a := range bucket {
				for _, b := range bucket[at+1 : min(at+1+meetings, len(bucket))] {
					add(a, b, false)
				}
			}
		default:
			for at, a := range bucket {
				for _, b := range bucket[max(0, at-burstShots):at] {
					if a.Kind == kindTime && a.Order-b.Order <= uint64(burstSeconds*time.Second.Microseconds()) {
						add(a, b, true)
					}
				}
			}
		}
	}
	for p, n := range votes {
		found[p.A] = append(found[p.A], Candidate{uint32(p.B), uint16(min(n, 1<<16-1)), p.G, true})
	}
	return found
}

// vote adds a vote for each key point of a bucket with each image of it, unless the bucket is too common.
func vote(bucket []Entry, votes map[Pair]int) {
	var with []uint32
	for _, e := range bucket {
		if e.Kind == kindPoints && (len(with) == 0 || with[len(with)-1] != e.Image) {
			with = append(with, e.Image)
		}
	}
	if len(with) > fullBucket {
		return
	}
	for _, e := range bucket {
		for _, image := range with {
			if e.Kind < kindPoints && image != e.Image {
				votes[Pair{int(e.Image), int(image), Symmetry(e.Kind), true}]++
			}
		}
	}
}

// Chosen returns the pairs of an image that must be compared, given its candidates of all buckets.
func Chosen(image int, all []Candidate) []Pair {
	var pairs []Pair
	votes := map[Pair]int{}
	for _, c := range all {
		if p := (Pair{image, int(c.Image), c.G, c.Points}); c.Votes > 0 {
			votes[p] += int(c.Votes)
		} else {
			pairs = append(pairs, p)
		}
	}
	return Unique(append(pairs, mostVotes(votes, relatedImages)...))
}

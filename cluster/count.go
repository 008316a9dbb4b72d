package cluster

import (
	"context"
	"fmt"
	"math"

	"gonum.org/v1/gonum/mat"

	"github.com/seed4492f2cd/partwise/internal/elementary"
	"github.com/seed4492f2cd/partwise/internal/guard"
)

// graphNeighbours is the default number of nearest neighbours in a graph.
const graphNeighbours = 10

// MostCounted is the default largest number of clusters of DescriptionLengths.
const MostCounted = 500

const countStarts = 8 // one start is noisy: for ORL at 32×32 pixels it chooses between 5 and 35 clusters

// DescriptionLengths returns, for each number of clusters from 1 to most, the bits per edge that describe a graph by its
// clusters, up to a constant. It uses the graph of whitened neighbours of [PropagatedKMeans], with 10 neighbours, and
// its averaged points. K-means finds min(500, n/3) clusters of the n points, or most if that is more; Ward's method
// then joins two at a time (Ward 1963). The description has the clusters, the degrees and the number of edges inside
// clusters, as in the planted partition model (Zhang and Peixoto 2020). Lengths are means over eight starts of k-means.
func DescriptionLengths(ctx context.Context, x mat.Matrix, most int, seed uint64) (_ []float64, err error) {
	defer guard.CatchWithin(&err, "description lengths")
	s := guard.Must(readSamples(x, DistanceCosine))
	if most = min(most, s.n-1); most < 1 {
		return nil, fmt.Errorf("up to %d clusters of %d samples", most, s.n)
	}
	v := s.whitened(ctx)
	g := nearestGraph(ctx, v, graphNeighbours)
	y := g.propagate(ctx, v, propagatedShare)
	unitRows(y)
	pieces := max(most, min(MostCounted, s.n/3))
	lengths := make([]float64, most)
	for start := range uint64(countStarts) {
		found := guard.Must(KMeans{K: pieces, Init: InitPlusPlus, Restarts: 1, MaxIterations: 20, Seed: seed + start}.Fit(ctx, y))
		p := newPartition(g, found)
		for k := pieces; k > 0; k-- {
			if k <= most {
				lengths[k-1] += p.bits(k) / countStarts
			}
			if k > 1 {
				p.join()
			}
		}
	}
	return lengths, nil
}

// ChooseCount returns the number of clusters, at least from, that the description lengths of 1, 2, … clusters suggest: the
// smallest one that up to a quarter more clusters, and 3, do not improve, nor up to 12 clusters.
func ChooseCount(lengths []float64, from int) int {
	best := from
	for k := from + 1; k <= len(lengths) && k <= max(12, best+best/4+3); k++ {
		if lengths[k-1] < lengths[best-1] {
			best = k
		}
	}
	return best
}

// partition holds clusters of the vertices of a graph that are joined two at a time.
type partition struct {
	vertices, edges int
	alive           []int       // clusters that are left
	size, degree    []int       // of each cluster: vertices, and the sum of their degrees
	between         [][]int     // edges between two clusters, and twice the edges inside a cluster
	distance        [][]float64 // increase of the sum of squares when two clusters are joined
	factorial       []float64   // ln 0!, ln 1!, …
}

func newPartition(g graph, found *Result) *partition {
	pieces, _ := found.Centres.Dims()
	p := &partition{vertices: len(g), size: make([]int, pieces), degree: make([]int, pieces), between: make([][]int, pieces), distance: make([][]float64, pieces)}
	for c := range pieces {
		p.alive, p.between[c], p.distance[c] = append(p.alive, c), make([]int, pieces), make([]float64, pieces)
	}
	for i, list := range g {
		c := found.Labels[i]
		p.size[c]++
		p.degree[c] += len(list)
		p.edges += len(list)
		for _, j := range list {
			p.between[c][found.Labels[j]]++
		}
	}
	p.edges /= 2
	p.factorial = make([]float64, 2*p.edges+p.vertices+1)
	for i := range p.factorial[1:] {
		p.factorial[i+1] = p.factorial[i] + elementary.Log(float64(i+1))
	}
	for a := range pieces {
		for b := range a {
			na, nb := float64(p.size[a]), float64(p.size[b])
			d := 0.0
			if na+nb > 0 {
				for f, value := range found.Centres.RawRowView(a) {
					d += (value - found.Centres.At(b, f)) * (value - found.Centres.At(b, f))
				}
				d *= na * nb / (na + nb)
			}
			p.distance[a][b], p.distance[b][a] = d, d
		}
	}
	return p
}

// join joins the two clusters with the smallest increase of the sum of squares.
func (p *partition) join() {
	least, to, from := math.Inf(1), 0, 1
	for at, a := range p.alive {
		for by, b := range p.alive[:at] {
			if d := p.distance[a][b]; d < least {
				least, to, from = d, by, at
			}
		}
	}
	a, b := p.alive[to], p.alive[from]
	p.alive = append(p.alive[:from], p.alive[from+1:]...)
	na, nb := float64(p.size[a]), float64(p.size[b])
	for _, c := range p.alive {
		if c == a {
			continue
		}
		nc := float64(p.size[c])
		d := 0.0
		if all := na + nb + nc; all > 0 { // Lance and Williams 1967
			d = ((na+nc)*p.distance[a][c] + (nb+nc)*p.distance[b][c] - nc*least) / all
		}
		p.distance[a][c], p.distance[c][a] = d, d
		p.between[a][c] += p.between[b][c]
		p.between[c][a] = p.between[a][c]
	}
	p.between[a][a] += p.between[b][b] + 2*p.between[a][b]
	p.size[a] += p.size[b]
	p.degree[a] += p.degree[b]
}

// bits returns the description length of k clusters per edge, up to a constant.
func (p *partition) bits(k int) float64 {
	if p.edges == 0 {
		return 0
	}
	inside := 0
	sum := p.factorial[p.vertices-1] - p.factorial[k-1] - p.factorial[p.vertices-k] // the sizes
	for _, c := range p.alive {
		if p.size[c] > 0 {
			sum += p.factorial[p.degree[c]+p.size[c]-1] - p.factorial[p.size[c]-1] - p.factorial[p.size[c]]
		}
		inside += p.between[c][c] / 2
	}
	outside := p.edges - inside
	sum += float64(inside)*elementary.Log(float64(k)/2) - p.factorial[inside] - p.factorial[outside]
	if k > 1 {
		sum += float64(outside)*elementary.Log(float64(k*(k-1)/2)) + elementary.Log(float64(p.edges+1))
	}
	return sum / math.Ln2 / float64(p.edges)
}

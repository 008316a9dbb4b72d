package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"path/filepath"
	"sync"
	"time"
)

// crash kills the commands of the jobs at random moments, some of them several times
// in a row, until each share of a number of kills is done. After each series the
// command is run to its end, which must leave the bytes of an unbroken run. Where the
// context ends, the rows tell of what was done until then.
func crash(ctx context.Context, s *scene, list []*job, kills, workers int, seed uint64, log io.Writer) ([]Row, error) {
	rows := make([]Row, len(list))
	for i, j := range list {
		if err := j.prepare(s, i); err != nil {
			return nil, err
		}
		rows[i] = Row{What: "`" + j.name + "`", Wanted: (kills + len(list) - 1 - i) / len(list)}
		fmt.Fprintf(log, "%s takes %v\n", j.name, j.lasting.Round(time.Millisecond))
	}
	var mu sync.Mutex
	var first error
	var group sync.WaitGroup
	for w := range workers {
		group.Go(func() {
			r := rand.New(rand.NewPCG(seed, uint64(w)))
			for number := 0; ; number++ {
				mu.Lock()
				next := -1
				for i, row := range rows {
					if left := row.Wanted - row.Times; left > 0 && (next < 0 || left > rows[next].Wanted-rows[next].Times) {
						next = i
					}
				}
				if first != nil || next < 0 || ctx.Err() != nil {
					mu.Unlock()
					return
				}
				most := rows[next].Wanted - rows[next].Times
				mu.Unlock()
				dir := filepath.Join(s.dir, fmt.Sprintf("crash-%d-%d", w, number))
				done, failure, err := killSeries(s, list[next], dir, most, r)
				mu.Lock()
				rows[next].Times += done
				if failure != "" {
					rows[next].Failures++
					rows[next].Examples = append(rows[next].Examples, failure)
					fmt.Fprintf(log, "FAILURE: %s: %s (kept in %s)\n", list[next].name, failure, dir)
				}
				if err != nil && first == nil {
					first = err
				}
				total := 0
				for _, row := range rows {
					total += row.Times
				}
				fmt.Fprintf(log, "%d of %d kills\n", total, kills)
				mu.Unlock()
				if failure == "" {
					os.RemoveAll(dir)
				}
			}
		})
	}
	group.Wait()
	return rows, first
}

// killSeries kills a job's command one to three times in a row and runs it to its end.
// It returns how often it was killed, and in which way the end is wrong.
func killSeries(s *scene, j *job, dir string, most int, r *rand.Rand) (done int, failure string, err error) {
	defer j.end(dir)
	if err := j.start(dir); err != nil {
		return 0, "", err
	}
	var moments []time.Duration
	for range min(most, 1+r.IntN(3)) {
		moment := time.Duration(r.Float64() * 1.05 * float64(j.lasting))
		moments = append(moments, moment)
		o, err := run(s.command(dir, filepath.Join(dir, "cache"), j.args), max(moment, 1))
		off := err == nil && j.whole != ""
		if off {
			err = failPower(dir, j.whole)
		}
		switch {
		case err != nil:
			return done, "", err
		case o.killed || off && o.code == 0:
			done++
			if j.takeBack != nil && r.IntN(2) == 0 { // else the next one finds what this one left
				if err := j.undo(s, dir); err != nil {
					return done, fmt.Sprintf("after kills at %v: %v", moments, err), nil
				}
			}
		case o.code != 0 && (j.sorted(dir) || j.undoes && !hasJournal(dir)): // it refuses to go on from what another left
		case o.code != 0:
			return done, fmt.Sprintf("started after kills at %v: exit code %d: %s", moments, o.code, lastLines(o.printed)), nil
		}
		err = checkNote(dir)
		if j.own {
			err = errors.Join(err, eachPhoto(dir, checkPhoto))
		}
		if err != nil {
			return done, fmt.Sprintf("after kills at %v: %v", moments, err), nil
		}
	}
	if err := j.finish(s, dir); err != nil {
		return done, fmt.Sprintf("after kills at %v: %v", moments, err), nil
	}
	return done, "", nil
}

package main

import (
	"fmt"
	"strconv"
	"strings"
	"time"
)

// about says what each part does.
var about = map[string]string{
	"crash": `Each command is killed (SIGKILL) at random moments between its start and its end, up to
three times in a row, over an empty folder or over what an earlier command left there.
Then it is run to its end, which must succeed and leave exactly the files of a run that
nobody killed, byte for byte, the cache among them. A file of the user's lies in the
folder of the results and must stay as it is. Photographs that are sorted must keep their
permissions and times after every kill.

With another disk, the photographs and the results are on two disks of their own. At a power
failure the command is killed or has just ended, and the disks start again with what was on them:
of the disk from which files go all that was done, the worst case, of the other what was brought
to it.`,
	"disk": `The folder of the results is on a disk that has room for n blocks of
4 KiB and no more, that takes n files and no more, or that is read-only; or no file may be
larger than n KiB. The number n rises from 0 until the command does its work. Where it does not,
it must end with an error that names the path and leave what was there, and on the
mended disk the next start must leave the files of a run that nothing stopped. A cache
that cannot be written must not matter to the command.`,
	"memory": `Large problems under --memory. A run must keep the peak of its resident set within the
limit, or be refused before its first trial with what it needs.`,
	"fuzz": `The fuzz targets look for input at which a reader panics, hangs, allocates more than it
states or gives what it must not. Executions add up over several runs; what was found is
mended, and its input kept in ` + "`testdata/fuzz`" + `. The guided executions, the first of each
target, are steered by what they cover of the code; the others change the inputs that
were kept, at many times the speed, ` + strconv.Itoa(51) + ` executions for each input of the engine. The peak
is that of the whole process.`,
	"checks": "The tests of the program, counted.",
}

// page is docs/reliability.md.
func (r *Record) page() string {
	var b strings.Builder
	b.WriteString(`# Reliability

This page is written by ` + "`make torture`" + ` from what it measured
([reliability.json](reliability.json)); a small share of it is part of ` + "`make test`" + `.
`)
	for _, name := range parts {
		p := r.Parts[name]
		if p == nil {
			continue
		}
		title := map[string]string{"crash": "Kills", "disk": "Full and read-only disks", "memory": "Memory", "fuzz": "Fuzzing", "checks": "Tests"}[name]
		fmt.Fprintf(&b, "\n## %s\n\n%s\n\n", title, about[name])
		p.table(&b, name)
		for _, n := range p.Notes {
			fmt.Fprintf(&b, "\n%s\n", n)
		}
		fmt.Fprintf(&b, "\nMeasured %s at revision %s on %s, in %v, by\n\n    %s\n", p.Date, p.Revision, p.Machine, duration(p.Seconds), p.Command)
		for _, row := range p.Rows {
			for _, e := range row.Examples {
				fmt.Fprintf(&b, "\n- %s: %s\n", row.What, strings.Join(strings.Fields(e), " "))
			}
		}
	}
	return b.String()
}

func (p *Part) table(b *strings.Builder, name string) {
	var all Row
	for _, r := range p.Rows {
		all.Times, all.Failures, all.Refused, all.Skipped = all.Times+r.Times, all.Failures+r.Failures, all.Refused+r.Refused, all.Skipped+r.Skipped
		all.Seconds += r.Seconds
		all.Peak = max(all.Peak, r.Peak)
		all.Corpus += r.Corpus
		all.Guided += r.Guided
	}
	all.What = "all"
	var head []string
	var cells func(Row) []string
	switch name {
	case "crash":
		head = []string{"command", "kills", "failures"}
		cells = func(r Row) []string { return []string{r.What, number(r.Times), number(r.Failures)} }
	case "disk":
		head = []string{"command and disk", "tries", "ended with an error", "failures"}
		cells = func(r Row) []string {
			return []string{r.What, number(r.Times), number(r.Refused), number(r.Failures)}
		}
	case "fuzz":
		head = []string{"target", "executions", "guided", "inputs kept", "peak", "time", "found"}
		cells = func(r Row) []string {
			return []string{r.What, number(r.Times), number(r.Guided), number(r.Corpus), fmt.Sprintf("%d MiB", r.Peak>>20), duration(r.Seconds).String(), number(r.Failures)}
		}
	case "memory":
		head = []string{"problem", "limit", "outcome", "peak", "time"}
		cells = func(r Row) []string {
			return []string{r.What, r.Limit, r.Outcome, fmt.Sprintf("%d MiB", r.Peak>>20), duration(r.Seconds).String()}
		}
	default:
		head = []string{"what", "tests passed", "failed", "skipped", "command"}
		cells = func(r Row) []string {
			command := ""
			if r.Command != "" {
				command = "`" + r.Command + "`"
			}
			return []string{r.What, number(r.Times - r.Failures), number(r.Failures), number(r.Skipped), command}
		}
	}
	line := func(cells []string) { fmt.Fprintf(b, "| %s |\n", strings.Join(cells, " | ")) }
	line(head)
	rule := make([]string, len(head))
	for i := range rule {
		rule[i] = "---:"
		if i == 0 || head[i] == "command" || head[i] == "outcome" {
			rule[i] = "---"
		}
	}
	line(rule)
	for _, r := range p.Rows {
		line(cells(r))
	}
	if name != "memory" {
		line(cells(all))
	}
}

// number writes a number with commas.
func number(n int) string {
	s := fmt.Sprint(n)
	for i := len(s) - 3; i > 0; i -= 3 {
		s = s[:i] + "," + s[i:]
	}
	return s
}

func duration(seconds float64) time.Duration {
	d := time.Duration(seconds * float64(time.Second))
	if d < time.Minute {
		return d.Round(100 * time.Millisecond)
	}
	return d.Round(time.Second)
}

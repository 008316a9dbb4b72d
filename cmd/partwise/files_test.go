package main

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// guarded holds, for each flag of a command that names what is written, command lines and what they read that the flag
// must not name. PICTURE is one of the pictures, and LINKS/mixed a folder of links to folders of pictures.
var guarded = map[string]map[string][]string{
	"apply --out": {
		"apply m.npz photos --labels labels.csv": {"m.npz", "photos/mine.npz"},
		"apply m.npz LINKS/mixed":                {"photos/mine.npz"},
	},
	"assign --out": {
		"assign groups photos":           {"PICTURE", "photos/mine.npz", "groups/model.npz", "groups/assignments.csv"},
		"assign groups/model.npz photos": {"groups/model.npz", "PICTURE"},
		"assign groups PICTURE":          {"PICTURE"},
	},
	"cluster --out": {
		"cluster photos -k 2 --features pixels=4":                                 {"photos"},
		"cluster photos -k 2 --features pixels=4 --labels groups/assignments.csv": {"groups"},
		"cluster LINKS/mixed -k 2 --features pixels=4":                            {"groups"},
	},
	"features --out": {
		"features photos --features sift=dense,words={from:m.npz}": {"m.npz", "photos/mine.npz"},
		"features LINKS/mixed --labels labels.csv":                 {"photos/mine.npz", "labels.csv"},
	},
	"features --words": {"features photos --out new.csv --features sift=dense,words={from:m.npz}": {"m.npz", "photos/mine.npz"}},
	"fit --out":        {"fit photos --rank 2 --start m.npz --trace new.csv": {"m.npz", "photos/mine.npz"}},
	"fit --trace": {
		"fit photos --rank 2 --out new.npz --labels labels.csv --links links.csv": {"labels.csv", "links.csv", "PICTURE"},
		"fit t10k-images-idx3-ubyte --rank 2 --out new.npz":                       {"t10k-labels-idx1-ubyte", "t10k-images-idx3-ubyte"},
		"fit vectors.csv --rank 2 --out new.npz":                                  {"vectors.csv", "PICTURE", "new.npz"},
	},
	"reproduce --doc": {
		"reproduce tiny.yaml":              {"tiny.yaml", "tiny.paper.yaml"},
		"reproduce tiny.yaml --set photos": {"PICTURE"},
		"reproduce tiny.yaml --out n":      {"n/tables/mine.csv"},
	},
	"reproduce --out": {"reproduce tiny.yaml --set n/tables/mine.csv": {"n"}},
	"run --out": {
		"run --set photos --method kmeans --repeats 1 --name n":                                   {"photos"},
		"run --set vectors.csv --method kmeans --links file=n/tables/mine.csv --name n":           {"n"},
		"run --set vectors.csv --method kmeans --features crop={eyes:n/tables/mine.csv} --name n": {"n"},
	},
}

// TestReadFilesStay: whatever the flags and the spelling, no output of a command replaces a file that it reads, or one
// in a folder that it reads. A new flag of text fails the test until flagUse says what it names, and one of an output
// until it has a line above. Those of profiles replace no file at all (TestProfileReplacesNothing).
func TestReadFilesStay(t *testing.T) {
	workplace(t)
	recipeFiles(t)
	write(t, "tiny.yaml", strings.Replace(read(t, "tiny.yaml"), ", samples: 120", "", 1))
	picture := filepath.Join("photos", firstFile(t, "photos"))
	must(t, groupPhotos("groups")...)
	must(t, "fit", "photos", "--rank", "2", "--iterations", "1", "--features", "pixels=4", "--out", "m.npz")
	write(t, "photos/mine.npz", "mine")
	write(t, "t10k-images-idx3-ubyte", "\x00\x00\x08\x03\x00\x00\x00\x02\x00\x00\x00\x02\x00\x00\x00\x01\x01\x02\x03\x04")
	write(t, "t10k-labels-idx1-ubyte", "\x00\x00\x08\x01\x00\x00\x00\x02\x01\x00")
	write(t, "vectors.csv", "file,a,b\n"+filepath.ToSlash(picture)+",1,2\nb,2,1\nc,2,3\n")
	place(t, "n/tables/mine.csv", read(t, "vectors.csv"))
	here, err := os.Getwd()
	if err != nil {
		t.Fatal(err)
	}
	links := t.TempDir()
	if err := os.Mkdir(filepath.Join(links, "mixed"), 0o777); err != nil {
		t.Fatal(err)
	}
	for link, to := range map[string]string{"here": ".", "mixed/photos": "photos", "mixed/groups": "groups"} {
		if err := os.Symlink(filepath.Join(here, to), filepath.Join(links, link)); err != nil {
			t.Skip(err)
		}
	}
	named := strings.NewReplacer("PICTURE", picture, "LINKS", links)
	want := contents(t, ".")

	flags := map[string]bool{} // of outputs
	var gather func(c *cobra.Command)
	gather = func(c *cobra.Command) {
		c.LocalFlags().VisitAll(func(f *pflag.Flag) {
			if slices.Contains([]string{"bool", "int", "uint64", "float64", "duration"}, f.Value.Type()) {
				return
			}
			use, known := useOf(c, f)
			if !known {
				t.Errorf("what does --%s of %s name? flagUse does not say", f.Name, c.Name())
			}
			if use == writes && f.Name != "profile" || f.Name == "out" {
				flags[c.Name()+" --"+f.Name] = true
			}
		})
		for _, c := range c.Commands() {
			gather(c)
		}
	}
	gather(rootCommand())
	for flag := range flags {
		if guarded[flag] == nil {
			t.Errorf("%s: no line of guarded has it", flag)
		}
	}
	for flag, lines := range guarded {
		command, flag, _ := strings.Cut(flag, " ")
		for line, files := range lines {
			for _, file := range files {
				file = named.Replace(file)
				spellings := []string{file, "./" + file, filepath.Join(here, file), filepath.Join("photos", "..", file), filepath.Join(links, "here", file)}
				if info, err := os.Stat(file); err == nil && info.Mode().IsRegular() {
					link, hard := filepath.Join(links, "link"+filepath.Ext(file)), filepath.Join(links, "hard"+filepath.Ext(file))
					if os.Symlink(filepath.Join(here, file), link) == nil {
						spellings = append(spellings, link)
					}
					if os.Link(file, hard) == nil && !strings.Contains(file, "mine") && !strings.HasPrefix(file, "groups") {
						spellings = append(spellings, hard)
					}
				}
				for _, spelling := range spellings {
					args := append(strings.Fields(named.Replace(line)), flag, spelling)
					if c, _, err := rootCommand().Find([]string{command}); err == nil && c.Flags().Lookup("force") != nil {
						args = append(args, "--force")
					}
					code, _, stderr := partwise(args...)
					if code != exitUsage || !strings.Contains(stderr, " is read, and --") && !strings.Contains(stderr, "among the pictures") && !strings.Contains(stderr, "both name") {
						t.Errorf("partwise %s: exit code %d, said %q", strings.Join(args, " "), code, stderr)
					}
					same(t, "partwise "+strings.Join(args, " "), ".", want)
				}
				for _, link := range []string{"link", "hard"} {
					os.Remove(filepath.Join(links, link+filepath.Ext(file)))
				}
			}
		}
	}
}

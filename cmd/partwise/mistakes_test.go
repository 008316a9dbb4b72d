package main

import (
	"os"
	"strings"
	"testing"
)

// TestMistakesChangeNothing: a mistake in what the user gives is one error with the
// file, its line or row where there is one, and the value, and the folder with all that
// is in it stays as it was.
func TestMistakesChangeNothing(t *testing.T) {
	workplace(t)
	write(t, "good.csv", "a,b,class\n1,2,x\n1,1,x\n2,1,y\n2,3,y\n")
	write(t, "one.csv", "a,b,class\n1,2,x\n1,1,x\n2,1,y\n")
	write(t, "nan.csv", "a,b,class\n1,2,x\n1,NaN,x\n2,1,y\n2,3,y\n")
	write(t, "inf.csv", "a,b,class\n1,2,x\n1,2,x\n2,+Inf,y\n2,3,y\n")
	write(t, "zero.csv", "a,b,class\n1,2,x\n0,0,x\n2,1,y\n2,3,y\n")
	write(t, "word.csv", "a,b,class\n1,2,x\n1,many,x\n2,1,y\n2,3,y\n")
	write(t, "short.csv", "a,b,class\n1,2,x\n1,x\n2,1,y\n2,3,y\n")
	write(t, "key.yaml", "name: n\ndata: good.csv\nmethods: [nmf]\nrepeat: 3\n")
	write(t, "tag.yaml", "name: n\ndata: good.csv\nmethods:\n  ! nmf\n")
	write(t, "nul.yaml", "name: n\ndata: good.csv\nmethods: [nmf]\x00\nrepeats: 3\n")
	write(t, "deep.yaml", "name: n\nmethods: "+strings.Repeat("[", 5000)+"\n")
	write(t, "alias.yaml", "name: n\ndata: &d good.csv\nlabels: *d\n")
	write(t, "rank.yaml", "name: n\ndata: good.csv\nmethods: [nmf]\nrank: 5\nrepeats: 1\n")
	write(t, "labels.csv", "file,class\nnobody.png,x\n")
	picture := firstFile(t, "photos")
	write(t, "twice.csv", "file,class\n"+picture+",x\n"+picture+",y\n")
	entries, err := os.ReadDir("photos")
	if err != nil {
		t.Fatal(err)
	}
	two := []string{entries[0].Name(), entries[1].Name()}
	write(t, "one-class.csv", two[0]+",x\n"+two[1]+",x\n")
	write(t, "unlinked.csv", two[0]+","+two[1]+",cannot\n")
	write(t, "both.csv", two[0]+","+two[1]+",cannot\n\n"+two[1]+","+two[0]+",must\n")
	write(t, "perhaps.csv", two[0]+","+two[1]+",perhaps\n")
	write(t, "nobody.csv", two[0]+",nobody.png,must\n")
	if err := os.MkdirAll("out", 0o777); err != nil {
		t.Fatal(err)
	}
	write(t, "out/notes.txt", "mine\n")
	must(t, "cluster", "photos", "-k", "2", "--method", "nmf,iterations=2", "--features", "pixels=4", "--out", "groups")
	const set = "run --method nmf --repeats 1 --name n --out out --set "
	before := contents(t, ".")
	for line, wants := range map[string][]string{
		set + "one.csv":                                        {"one.csv", `"y"`, "1 sample"},
		set + "nan.csv":                                        {"nan.csv", "line 3", "NaN"},
		set + "inf.csv":                                        {"inf.csv", "line 4", "Inf"},
		set + "zero.csv":                                       {"zero.csv", "row 2"},
		set + "word.csv":                                       {"word.csv", "3", `"many"`},
		set + "short.csv":                                      {"short.csv", "3"},
		set + "good.csv --rank 5":                              {"rank", "5", "4 samples"},
		set + "good.csv --classes 3":                           {"classes", "3", "2"},
		set + "good.csv --labels 9":                            {"9", "2"},
		set + "good.csv --method gnmf,lamda=1":                 {"lamda"},
		set + "good.csv --features pixels=0":                   {"pixels", `"0"`},
		set + "good.csv --cluster restarts=0":                  {"restarts"},
		"run key.yaml --out out":                               {"key.yaml", "[4:1]", `"repeat"`},
		"run tag.yaml --out out":                               {"tag.yaml", "[4:3]", "tags"},
		"run nul.yaml --out out":                               {"nul.yaml", "[3:15]", "U+0000"},
		"run deep.yaml --out out":                              {"deep.yaml", "[2:40]", "32"},
		"run alias.yaml --out out":                             {"alias.yaml", "[2:7]", "anchors"},
		"run rank.yaml --out out":                              {"rank", "5", "4 samples"},
		"cluster one.csv -k 4 --out groups":                    {"4", "3 samples"},
		"cluster nan.csv -k 2 --out groups":                    {"nan.csv", "line 3", "NaN"},
		"cluster photos -k 2 --labels labels.csv --out groups": {"labels.csv", "line 2", "nobody.png"},
		"cluster photos -k 2 --labels twice.csv --out groups":  {"twice.csv", "line 3", picture},
		"cluster photos -k 2 --links both.csv --out groups":    {"both.csv", "line 1: cannot-link (" + two[0], "of line 3"},
		"cluster photos -k 2 --links perhaps.csv --out groups": {"perhaps.csv", "line 1", `"perhaps"`},
		"cluster photos -k 2 --links nobody.csv --out groups":  {"nobody.csv", "line 1", "nobody.png"},
		"cluster photos -k 2 --labels one-class.csv --links unlinked.csv --out groups": {"unlinked.csv: line 1", "the class x of " + two[0] + " and " + two[1] + " in lines 1 and 2 of one-class.csv"},
		"cluster photos -k 2 --features pixel=4 --out groups":                          {`"pixel"`},
		"cluster photos -k 2 --method nmf,rank=x --out groups":                         {"rank"},
		"cluster photos -k 2 --rank 99 --out groups":                                   {"99", "72"},
		"cluster good.csv -k 2 --batch 2 --out groups":                                 {"good.csv", "few samples at a time"},
		"cluster photos -k 2 --batch 0 --out groups":                                   {"--batch", "0 samples"},
		"cluster photos -k 2 --batch 9 --method gnmf --out groups":                     {"--batch", "gnmf"},
		"cluster photos -k 2 --batch 9 --solver mu --out groups":                       {"--batch", "mu"},
		"features zero.csv --features normalise=l2 --out f.npz":                        {"zero.csv", "row 2"},
		"features word.csv --out f.npz":                                                {"word.csv", `"many"`},
		"features photos --features sift=dense,words=0 --out f.npz":                    {"words", "1 to"},
	} {
		code, _, stderr := partwise(strings.Fields(line)...)
		if code != exitFailed && code != exitUsage || strings.Count(stderr, "partwise: ") != 1 || !strings.HasPrefix(stderr, "partwise: ") {
			t.Errorf("partwise %s: exit code %d and %q", line, code, stderr)
		}
		for _, want := range wants {
			if !strings.Contains(stderr, want) {
				t.Errorf("partwise %s does not say %q: %q", line, want, stderr)
			}
		}
		same(t, "partwise "+line, ".", before)
	}
}

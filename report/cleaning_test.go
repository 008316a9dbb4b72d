package report

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/seed4492f2cd/partwise/internal/files/output"
)

// cleaning writes a folder of a grouping with these PicturesFile and NotSameFile, "" for none.
func cleaning(t *testing.T, list, apart string) string {
	t.Helper()
	dir := filepath.Join(t.TempDir(), "groups")
	folder, err := output.Open(dir, output.Spec{Command: "cluster", Data: "photos", Names: GroupingFiles})
	if err != nil {
		t.Fatal(err)
	}
	if err := folder.Write(PicturesFile, []byte(list)); err != nil {
		t.Fatal(err)
	}
	if err := folder.Close(); err != nil {
		t.Fatal(err)
	}
	if apart != "" {
		if err := os.WriteFile(filepath.Join(dir, NotSameFile), []byte(apart), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

const cleaningHeader = "file,copy_of,copy,remark,width,height,bytes,taken,camera\n"

const cleaningList = cleaningHeader + `a.jpg,b.jpg,near,,40,30,900,,
b.jpg,,,,80,60,2000,2020-01-01 10:00:00,NIKON
c.jpg,b.jpg,burst,,80,60,2100,2020-01-01 10:00:01,NIKON
d.jpg,b.jpg,exact,,80,60,2000,,
e.jpg,,,blank,80,60,200,,
f.jpg,,,blurred,80,60,3000,,
g.jpg,f.jpg,near,,40,30,700,,
h.jpg,,,blurred,80,60,700,,
`

func TestReadCleaning(t *testing.T) {
	names := func(c *Cleaning) (all []string) {
		for _, s := range append(slices.Clone(c.Stacks), c.Marked) {
			var of []string
			for _, p := range s {
				of = append(of, p.Name[:1])
			}
			all = append(all, strings.Join(of, ""))
		}
		return all
	}
	for _, test := range []struct {
		apart, summary string
		want           []string
	}{
		// A sharp copy is kept instead of its blurred original.
		{"", "3 copies and 1 other shot of a burst in 2 stacks, 1 blurred, 1 blank", []string{"bcda", "gf", "eh"}},
		{"file,other\na.jpg,b.jpg\n", "2 copies and 1 other shot of a burst in 2 stacks, 1 blurred, 1 blank", []string{"bcd", "gf", "eh"}},
		{"\ufeffother,file\r\nb.jpg,a.jpg\r\nb.jpg,c.jpg\r\n", "2 copies and 1 other shot of a burst in 3 stacks, 1 blurred, 1 blank", []string{"bd", "ca", "gf", "eh"}},
		{"file,other\ng.jpg,f.jpg\n", "2 copies and 1 other shot of a burst in 1 stack, 2 blurred, 1 blank", []string{"bcda", "efh"}},
	} {
		c, err := ReadCleaning(cleaning(t, cleaningList, test.apart))
		if err != nil {
			t.Fatal(err)
		}
		if got := names(c); !slices.Equal(got, test.want) || c.Summary() != test.summary {
			t.Errorf("%q: %q, %q; want %q, %q", test.apart, got, c.Summary(), test.want, test.summary)
		}
		rest := c.Rest([]string{Bursts})
		if len(rest) != 1 || rest[0].Name != Bursts || !strings.Contains("ca", rest[0].Sample[:1]) {
			t.Errorf("%q: %+v", test.apart, rest)
		}
	}
}

func TestReadCleaningErrors(t *testing.T) {
	for _, test := range []struct{ list, apart, want string }{
		{"file,copy_of\n", "", `pictures.csv: line 1: no column "copy"`},
		{cleaningHeader + "a.jpg,,,,x,30,900,,\n", "", `pictures.csv: line 2: width "x": expected a whole number`},
		{cleaningHeader + "a.jpg,,,,4,3,9,,\na.jpg,,,,4,3,9,,\n", "", `line 3: "a.jpg" is listed twice`},
		{cleaningHeader + "a.jpg,z.jpg,near,,4,3,9,,\n", "", `line 2: no photo is called "z.jpg"`},
		{cleaningHeader + "a.jpg,,\n", "", "line 2: wrong number of fields"},
		{cleaningList, "a.jpg,b.jpg\n", `not-same.csv: line 1: no column "file"`},
	} {
		if _, err := ReadCleaning(cleaning(t, test.list, test.apart)); err == nil || !strings.Contains(err.Error(), test.want) {
			t.Errorf("%q, %q: error %v, want %q", test.list, test.apart, err, test.want)
		}
	}
}

// ReadCleaning adds pairs to the lines of a person, also without a newline at the end.
func TestAddNotSame(t *testing.T) {
	dir := cleaning(t, cleaningList, "file,other\na.jpg,b.jpg\ngone.jpg,b.jpg")
	c, err := ReadCleaning(dir, [2]string{"c.jpg", "b.jpg"})
	if err != nil || len(c.Stacks) != 3 {
		t.Fatal(c, err)
	}
	text, err := os.ReadFile(filepath.Join(dir, NotSameFile))
	if want := "file,other\na.jpg,b.jpg\ngone.jpg,b.jpg\nc.jpg,b.jpg\n"; err != nil || string(text) != want {
		t.Errorf("got %q, %v", text, err)
	}
	if _, err := ReadCleaning(dir, [2]string{"c.jpg", "z.jpg"}); err == nil || !strings.Contains(err.Error(), `"z.jpg"`) {
		t.Errorf("got error %v", err)
	}
}

// The sharpest shot of a burst is kept, the original if it is about as sharp, and never a copy of the original or of a
// shot, which may be larger or small.
func TestSharpestOfBurst(t *testing.T) {
	const list = "sharpness," + cleaningHeader + `0.50,a.jpg,,,,80,60,2000,,
%s,b.jpg,a.jpg,burst,,60,40,900,,
0.90,c.jpg,a.jpg,near,,40,30,700,,
0.90,d.jpg,a.jpg,burst,,30,20,800,,
0.90,e.jpg,a.jpg,near,,90,80,800,,
0.10,f.jpg,,,blurred,80,60,900,,
0.90,g.jpg,f.jpg,near,,30,20,800,,
`
	for sharpness, want := range map[string]string{"0.52": "a.jpg", "0.60": "b.jpg", "": "a.jpg"} {
		c, err := ReadCleaning(cleaning(t, fmt.Sprintf(list, sharpness), ""))
		if err != nil {
			t.Fatal(err)
		}
		if got := c.Stacks[0][0].Name; got != want {
			t.Errorf("sharpness %q: %s is kept, want %s", sharpness, got, want)
		}
		if got := c.Stacks[1][0].Name; got != "f.jpg" {
			t.Errorf("%s is kept, a small copy of a blurred photo", got)
		}
	}
	if _, err := ReadCleaning(cleaning(t, fmt.Sprintf(list, "x"), "")); err == nil || !strings.Contains(err.Error(), `line 3: sharpness "x"`) {
		t.Errorf("got error %v", err)
	}
}

// TestCleaningInBrowser: the page shows many stacks and photos in steps, and arrow keys lead through all of them.
func TestCleaningInBrowser(t *testing.T) {
	t.Parallel()
	var list strings.Builder
	data := pageData{GroupNames: []string{""}}
	list.WriteString(cleaningHeader)
	for i := range 600 {
		name, of, kind, remark := fmt.Sprintf("%03d.jpg", i), "", "", "blurred"
		if i < 400 {
			remark = ""
		}
		if i < 400 && i%2 == 1 {
			of, kind = fmt.Sprintf("%03d.jpg", i-1), NearCopy
		}
		fmt.Fprintf(&list, "%s,%s,%s,%s,40,30,900,,\n", name, of, kind, remark)
		data.Names, data.Groups, data.Order = append(data.Names, name), append(data.Groups, 0), append(data.Order, i)
	}
	dir := cleaning(t, list.String(), "")
	folder, err := output.Open(dir, output.Spec{Command: "cluster", Data: "photos", Names: GroupingFiles})
	if err == nil {
		err = folder.Write(dataFile, dataScript(&data))
	}
	if err != nil || folder.Close() != nil {
		t.Fatal(err)
	}
	c, err := ReadCleaning(dir)
	if err == nil {
		err = c.WritePage(t.Context(), dir, "partwise clean")
	}
	if err != nil {
		t.Fatal(err)
	}
	p := inBrowser(t, filepath.Join(dir, cleaningFolder), dir)
	fits(t, p)
	p.Run(`
const [stacks, marked] = $$(".steps"), shown = () => [stacks, marked].map((b) => b.children.length + ", " + b.nextElementSibling.textContent).join(", ");
check(shown() === "48, 152 more stacks. Show all 200, 48, 152 more photos. Show all 200", shown());
const at = () => document.activeElement.closest(".photo").textContent.match(/[0-9]{3}/)[0];
const press = (key, name) => { document.activeElement.dispatchEvent(new KeyboardEvent("keydown", {key, bubbles: true})); check(at() === name, key, "leads to", at(), "not", name); };
$(".steps .picture[tabindex='0']").focus();
press("ArrowRight", "001"); press("ArrowRight", "002"); press("ArrowLeft", "001"); press("ArrowUp", "001"); press("ArrowDown", "002"); press("End", "003"); press("ArrowUp", "000");
[...stacks.lastElementChild.querySelectorAll(".picture")].at(-1).focus();
press("ArrowRight", "096"); press("ArrowUp", "094");
[...marked.children].at(-1).querySelector(".picture").focus();
press("ArrowRight", "448");
check($$("[tabindex='0']").length === 2, "the page has", $$("[tabindex='0']").length, "tab stops");
$$(".more button")[1].click();
await until(async () => { scrollTo({top: 1e7, behavior: "instant"}); return marked.children.length === 200; });`, nil)
}

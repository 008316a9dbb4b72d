package explore

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"image"
	"image/color"
	"image/png"
	"io"
	"math"
	"net"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"gonum.org/v1/gonum/mat"

	"github.com/seed4492f2cd/partwise/cluster"
	"github.com/seed4492f2cd/partwise/internal/browsertest"
	"github.com/seed4492f2cd/partwise/pipeline/feedback"
	"github.com/seed4492f2cd/partwise/pipeline/grouping"
	"github.com/seed4492f2cd/partwise/report"
)

// smallGrouping is a small grouping on disk: pictures of one colour each, in three groups.
type smallGrouping struct {
	dir    string
	files  []string
	groups []int
	find   func(text string) ([]int, error)
}

func newGrouping(t testing.TB, n int) *smallGrouping {
	t.Helper()
	g := &smallGrouping{dir: filepath.Join(t.TempDir(), "results")}
	pictures := t.TempDir()
	features := mat.NewDense(n, 3, nil)
	shades := []color.RGBA{{200, 40, 40, 255}, {40, 160, 60, 255}, {40, 70, 200, 255}}
	c := report.Clusters{Grouping: &grouping.Grouping{}, Name: "Holiday & more", Method: "kmeans", Assignments: report.AssignmentsFile, Side: 96, Features: features}
	for i := range n {
		shade := shades[i%3]
		img := image.NewRGBA(image.Rect(0, 0, 96, 64))
		for p := 0; p < len(img.Pix); p += 4 {
			copy(img.Pix[p:], []byte{shade.R + uint8(i), shade.G, shade.B, 255})
		}
		var text bytes.Buffer
		if err := png.Encode(&text, img); err != nil {
			t.Fatal(err)
		}
		file := filepath.Join(pictures, fmt.Sprintf("%02d.png", i))
		write(t, file, text.String())
		g.files, g.groups = append(g.files, file), append(g.groups, i%3)
		features.SetRow(i, []float64{math.Cos(float64(i % 3)), math.Sin(float64(i % 3)), float64(i) / 100})
		c.Names, c.Memberships = append(c.Names, "<b>"+filepath.Base(file)), append(c.Memberships, cluster.Membership{Confidence: 0.5})
		c.Links = append(c.Links, "../"+filepath.Base(file))
	}
	c.Groups, c.Image = g.groups, func(i int) (image.Image, error) {
		f, err := os.Open(g.files[i])
		if err != nil {
			return nil, err
		}
		defer f.Close()
		return png.Decode(f)
	}
	if err := report.WriteClusters(t.Context(), g.dir, c); err != nil {
		t.Fatal(err)
	}
	write(t, filepath.Join(g.dir, report.AssignmentsFile), "file,group\n")
	return g
}

func write(t testing.TB, path, text string) {
	t.Helper()
	if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
}

// start serves a grouping with a session.
func start(t testing.TB, g *smallGrouping, session Session) (*Server, *httptest.Server) {
	t.Helper()
	s, err := New(t.Context(), session, g.dir, g.files, g.find)
	if err != nil {
		t.Fatal(err)
	}
	web := httptest.NewServer(s)
	t.Cleanup(func() {
		web.Close()
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	})
	return s, web
}

// request sends a request as a browser does, after change.
func request(t testing.TB, web *httptest.Server, method, path, body string, change func(*http.Request)) (int, string, http.Header) {
	t.Helper()
	r, err := http.NewRequestWithContext(t.Context(), method, web.URL, strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	r.URL.Opaque = path // unescaped
	if method == http.MethodPost {
		r.Header.Set("Content-Type", "application/json")
		r.Header.Set("Origin", web.URL)
		r.Header.Set("Sec-Fetch-Site", "same-origin")
	}
	if change != nil {
		change(r)
	}
	// Redirects are returned as answers.
	client := &http.Client{CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
	answer, err := client.Do(r)
	if err != nil {
		t.Fatalf("%s %s: %v", method, path, err)
	}
	defer answer.Body.Close()
	text, err := io.ReadAll(answer.Body)
	if err != nil {
		t.Fatal(err)
	}
	return answer.StatusCode, string(text), answer.Header
}

func stateOf(t testing.TB, text string) (s feedback.State) {
	t.Helper()
	in := json.NewDecoder(strings.NewReader(text))
	in.DisallowUnknownFields()
	if err := in.Decode(&s); err != nil {
		t.Fatalf("%v: %.200s", err, text)
	}
	return s
}

func TestPage(t *testing.T) {
	g := newGrouping(t, 12)
	s, web := start(t, g, newFake(g.groups))
	status, page, h := request(t, web, "GET", s.Path(), "", nil)
	if status != 200 || h.Get("Cache-Control") != "no-store" || h.Get("Content-Type") != "text/html; charset=utf-8" {
		t.Fatalf("the page: %d, %v", status, h)
	}
	if policy := h.Get("Content-Security-Policy"); !strings.HasPrefix(policy, "default-src 'none'; ") || !strings.Contains(policy, "; script-src 'self'; connect-src 'self'; ") {
		t.Errorf("the policy is %q", policy)
	}
	for _, words := range []string{"<title>Holiday &amp; more</title>", `src="page/explore.js"`, "12 images in 3 groups."} {
		if !strings.Contains(page, words) {
			t.Errorf("the page does not say %q", words)
		}
	}
	for path, kind := range map[string]string{
		"page/explore.js": "text/javascript; charset=utf-8", "page/page.js": "text/javascript; charset=utf-8", "page/data.js": "text/javascript; charset=utf-8",
		"pictures/000.jpg": "image/jpeg", "assignments.csv": "text/csv; charset=utf-8", "original/0": "image/png", "original/11": "image/png", "state": "application/json",
	} {
		for _, method := range []string{"GET", "HEAD"} {
			status, text, h := request(t, web, method, s.Path()+path, "", nil)
			if status != 200 || h.Get("Content-Type") != kind || h.Get("X-Content-Type-Options") != "nosniff" || h.Get("Referrer-Policy") != "no-referrer" ||
				h.Get("Cross-Origin-Resource-Policy") != "same-origin" || !strings.HasPrefix(h.Get("Content-Security-Policy"), "default-src 'none'") || (text == "") != (method == "HEAD") {
				t.Errorf("%s %s: %d, %d bytes, %v", method, path, status, len(text), h)
			}
			if strings.HasPrefix(kind, "image") != (h.Get("Cache-Control") != "no-store") && kind != "text/csv; charset=utf-8" {
				t.Errorf("%s: Cache-Control %q", path, h.Get("Cache-Control"))
			}
		}
	}
	_, script, _ := request(t, web, "GET", s.Path()+"page/data.js", "", nil)
	if !strings.Contains(script, `"base":"original/","links":["0","1",`) {
		t.Errorf("the links differ: %.300s", script)
	}
	if status, _, h := request(t, web, "GET", strings.TrimSuffix(s.Path(), "/"), "", nil); status != http.StatusPermanentRedirect || h.Get("Location") != s.Path() {
		t.Errorf("without its last slash the page is %d, %v", status, h)
	}
}

// TestNotServed: files outside of the page, and requests that do not come from it, are refused.
func TestNotServed(t *testing.T) {
	g := newGrouping(t, 12)
	outside := t.TempDir()
	write(t, filepath.Join(outside, "secret.png"), "secret")
	write(t, filepath.Join(g.dir, "pictures", "evil.html"), "<script>")
	write(t, filepath.Join(g.dir, "pictures", "evil.js"), "secret")
	write(t, filepath.Join(g.dir, "own.png"), "not of the page")
	write(t, filepath.Join(g.dir, "page", "evil.js"), "secret")
	write(t, filepath.Join(g.dir, "model.npz"), "secret")
	if err := os.Mkdir(filepath.Join(g.dir, "pictures", "folder.png"), 0o755); err != nil {
		t.Fatal(err)
	}
	// Links of a file and of a folder to the outside.
	if os.Symlink(filepath.Join(outside, "secret.png"), filepath.Join(g.dir, "pictures", "link.png")) == nil {
		if err := os.Symlink(outside, filepath.Join(g.dir, "words")); err != nil {
			t.Fatal(err)
		}
	}
	write(t, g.files[0], "<svg xmlns='http://www.w3.org/2000/svg'><script>alert(1)</script></svg>")
	write(t, g.files[1], "<html><script>alert(1)</script></html>")
	write(t, g.files[2], "")
	if err := os.Remove(g.files[3]); err != nil {
		t.Fatal(err)
	}
	if err := os.Remove(g.files[4]); err != nil {
		t.Fatal(err)
	}
	if err := os.Mkdir(g.files[4], 0o755); err != nil {
		t.Fatal(err)
	}
	g.files[5] = ""
	session := newFake(g.groups)
	s, web := start(t, g, session)
	path := s.Path()
	wrong := "/" + strings.Repeat("0", 32) + "/"
	move := `{"do":"move","pictures":[0],"groups":[1]}`
	_, port, _ := net.SplitHostPort(web.Listener.Addr().String())
	host := func(name string) func(*http.Request) { return func(r *http.Request) { r.Host = name } }
	header := func(name string, value ...string) func(*http.Request) {
		return func(r *http.Request) { r.Header[http.CanonicalHeaderKey(name)] = value }
	}
	for _, test := range []struct {
		method, path, body string
		change             func(*http.Request)
		status             int
	}{
		{"GET", "/", "", nil, 404},
		{"GET", "/favicon.ico", "", nil, 404},
		{"GET", wrong, "", nil, 404},
		{"GET", wrong + "state", "", nil, 404},
		{"GET", path[:len(path)-2] + "/", "", nil, 404},
		{"POST", wrong + "act", move, nil, 404},
		{"GET", path, "", host("example.com:" + port), 403},
		{"GET", path, "", host("127.0.0.1:1"), 403},
		{"GET", path, "", host("127.0.0.1"), 403},
		{"GET", path, "", host("localhost:" + port), 200},
		{"GET", path, "", host("[::1]:" + port), 200},
		{"POST", path + "act", move, host("example.com:" + port), 403},
		{"POST", path + "act", move, func(r *http.Request) { r.Header.Set("Sec-Fetch-Site", "cross-site") }, 403},
		{"POST", path + "act", move, func(r *http.Request) { r.Header.Set("Sec-Fetch-Site", "same-site") }, 403},
		{"POST", path + "act", move, func(r *http.Request) {
			r.Header.Del("Sec-Fetch-Site")
			r.Header.Set("Origin", "http://example.com")
		}, 403},
		{"POST", path + "act", move, func(r *http.Request) { r.Header.Del("Sec-Fetch-Site"); r.Header.Set("Origin", "null") }, 403},
		{"POST", path + "act", move, header("Content-Type", "text/plain"), 415},
		{"POST", path + "act", move, header("Content-Type"), 415},
		{"POST", path + "act", "", nil, 400},
		{"POST", path + "act", "null", nil, 422},
		{"POST", path + "act", "[]", nil, 400},
		{"POST", path + "act", "\xff\x00", nil, 400},
		{"POST", path + "act", move + move, nil, 400},
		{"POST", path + "act", `{"do":"move","picture":[0]}`, nil, 400},
		{"POST", path + "act", `{"do":"move","pictures":["0"]}`, nil, 400},
		{"POST", path + "act", `{"do":"move","pictures":[1e99]}`, nil, 400},
		{"POST", path + "act", `{"do":"explode"}`, nil, 422},
		{"POST", path + "act", `{"do":"Move"}`, nil, 422},
		{"POST", path + "act", `{"do":"move","pictures":[99],"groups":[1]}`, nil, 422},
		{"POST", path + "act", `{"do":"move","pictures":[-1],"groups":[1]}`, nil, 422},
		{"POST", path + "act", `{"do":"name","groups":[0],"name":"` + strings.Repeat("x", largestBody) + `"}`, nil, 413},
		{"POST", path + "undo", `{}`, nil, 422},
		{"POST", path + "undo", `{"do":"move"}`, nil, 422},
		{"POST", path + "redo", `{}`, nil, 422},
		{"POST", path + "state", `{}`, nil, 405},
		{"POST", path, `{}`, nil, 405},
		{"PUT", path + "act", move, nil, 405},
		{"GET", path + "act", "", nil, 404},
		{"GET", path + "finish", "", nil, 404},
		{"DELETE", path + "pictures/000.jpg", "", nil, 405},
		{"GET", path + "nothing", "", nil, 404},
		{"GET", path + "index.html", "", nil, 404},
		{"GET", path + "model.npz", "", nil, 404},
		{"GET", path + "own.png", "", nil, 404},
		{"GET", path + tokenFile, "", nil, 404},
		{"GET", path + "page/evil.js", "", nil, 404},
		{"GET", path + "pictures", "", nil, 404},
		{"GET", path + "pictures/", "", nil, 404},
		{"GET", path + "pictures/evil.html", "", nil, 404},
		{"GET", path + "pictures/evil.js", "", nil, 404},
		{"GET", path + "pictures/folder.png", "", nil, 404},
		{"GET", path + "pictures/nothing.png", "", nil, 404},
		{"GET", path + "pictures/link.png", "", nil, 404},
		{"GET", path + "words/secret.png", "", nil, 404},
		{"GET", path + "../own.png", "", nil, 404},
		{"GET", path + "pictures/../own.png", "", nil, 404},
		{"GET", path + "pictures/%2e%2e/own.png", "", nil, 404},
		{"GET", path + "pictures%2f..%2fown.png", "", nil, 404},
		{"GET", path + "pictures/..%5cown.png", "", nil, 404},
		{"GET", path + "pictures//000.jpg", "", nil, 404},
		{"GET", path + "pictures/./000.jpg", "", nil, 404},
		{"GET", path + "pictures/000.jpg%00.png", "", nil, 404},
		{"GET", path + "/pictures/000.jpg", "", nil, 404},
		{"GET", path + "original/0", "", nil, 415},
		{"GET", path + "original/1", "", nil, 415},
		{"GET", path + "original/2", "", nil, 415},
		{"GET", path + "original/3", "", nil, 404},
		{"GET", path + "original/4", "", nil, 404},
		{"GET", path + "original/5", "", nil, 404},
		{"GET", path + "original/6", "", nil, 200},
		{"GET", path + "original/12", "", nil, 404},
		{"GET", path + "original/-1", "", nil, 404},
		{"GET", path + "original/06", "", nil, 404},
		{"GET", path + "original/+6", "", nil, 404},
		{"GET", path + "original/6/", "", nil, 404},
		{"GET", path + "original/99999999999999999999", "", nil, 404},
		{"GET", path + "original/", "", nil, 404},
	} {
		status, text, h := request(t, web, test.method, test.path, test.body, test.change)
		if status != test.status || strings.Contains(text, "secret") {
			t.Errorf("%s %s %.60s: %d, want %d: %.100q", test.method, test.path, test.body, status, test.status, text)
		}
		if status != 200 && (strings.Count(text, "\n") != 1 || h.Get("Content-Type") != "text/plain; charset=utf-8" || h.Get("Cache-Control") != "no-store") {
			t.Errorf("%s %s: the answer %q is no line of text: %v", test.method, test.path, text, h)
		}
	}
	if len(session.past) > 0 {
		t.Errorf("%d acts were done", len(session.past))
	}
}

// TestSearch: the server orders pictures by a description, if it can, and the page shows them.
func TestSearch(t *testing.T) {
	g := newGrouping(t, 12)
	s, web := start(t, g, newFake(g.groups))
	if status, _, _ := request(t, web, "GET", s.Path()+"search?text=dog", "", nil); status != 404 {
		t.Errorf("without an encoder: %d", status)
	}
	if _, data, _ := request(t, web, "GET", s.Path()+"page/data.js", "", nil); strings.Contains(data, `"search"`) {
		t.Error("the page has a field without an encoder")
	}
	g.find = func(text string) ([]int, error) {
		if text != "a <b>dog</b> & cat" {
			return nil, fmt.Errorf("no %q", text)
		}
		return []int{7, 5, 11, 0, 1, 2, 3, 4, 6, 8, 9, 10}, nil
	}
	session := newFake(g.groups)
	s, web = start(t, g, session)
	for path, want := range map[string]int{"search?text=dog": 500, "search?text=" + strings.Repeat("x", longestText+1): 400, "search?text=a+%3Cb%3Edog%3C/b%3E+%26+cat": 200} {
		if status, text, _ := request(t, web, "GET", s.Path()+path, "", nil); status != want || status == 200 && text != `{"rows":[7,5,11,0,1,2,3,4,6,8,9,10]}` {
			t.Errorf("%.40s: %d, %s", path, status, text)
		}
	}
	p := browsertest.Open(t, web.URL+s.Path())
	p.Run(`await until(() => $("#question img.large")); $("#describe").focus();`, nil)
	p.Type(" a <b>dog</b> & cat ")
	p.Press("Enter")
	p.Run(`await until(() => !$("#results").hidden);
check($("#results-title").textContent === "Best matches for “a <b>dog</b> & cat”", $("#results-title").textContent);
check($$("#results a.picture").map((a) => a.dataset.i).join() === "7,5,11,0,1,2,3,4,6,8,9,10", "another order");
check($$("#group-1 a.picture").length === 4 && $("#describe") === document.activeElement, "the groups or the focus moved");`, nil)
	p.Type("s")
	p.Press("Enter")
	p.Run(`await until(() => $("#status").textContent.includes("Search failed: no"));`, nil)
	if found := p.Problems(); len(found) != 1 || !strings.Contains(found[0], "500") {
		t.Errorf("problems: %q", found)
	}
	if len(session.past) > 0 {
		t.Errorf("%d acts were done", len(session.past))
	}
}

// TestActs: acts change the state, and can be undone.
func TestActs(t *testing.T) {
	g := newGrouping(t, 12)
	session := newFake(g.groups)
	s, web := start(t, g, session)
	post := func(path, body string) feedback.State {
		t.Helper()
		status, text, _ := request(t, web, "POST", s.Path()+path, body, nil)
		if status != 200 {
			t.Fatalf("%s %s: %d %s", path, body, status, text)
		}
		_, now, _ := request(t, web, "GET", s.Path()+"state", "", nil)
		if now != text {
			t.Errorf("%s is answered by %s, and then the state is %s", path, text, now)
		}
		return stateOf(t, text)
	}
	if st := post("act", `{"do":"move","pictures":[0,3],"groups":[1]}`); st.Groups[0] != 1 || st.Groups[3] != 1 || st.Acts != 1 || !slices.Equal(st.Labelled, []int{0, 3}) {
		t.Errorf("moved: %+v", st)
	}
	if st := post("act", `{"do":"name","groups":[0],"name":"a\u0007\u202eb"}`); st.Names[0] != `a\a\u202eb` {
		t.Errorf("named: %q", st.Names)
	}
	if st := post("undo", `{}`); st.Names[0] != "" || st.Redo == "" {
		t.Errorf("taken back: %+v", st)
	}
	if st := post("redo", ` {} `); st.Names[0] == "" {
		t.Errorf("done again: %+v", st)
	}
	status, text, _ := request(t, web, "POST", s.Path()+"act", `{"do":"name","groups":[1],"name":"a\u0007\u202eb"}`, nil)
	if status != 422 || text != `another group is called "a\a\u202eb"`+"\n" {
		t.Errorf("a mistake is answered by %d %q", status, text)
	}

	session.before = func(context.Context, feedback.Act) error { panic("at work") }
	if status, text, _ := request(t, web, "POST", s.Path()+"act", `{"do":"split","groups":[1]}`, nil); status != 500 || !strings.Contains(text, "at work") {
		t.Errorf("a panic is answered by %d %q", status, text)
	}
	session.before = func(context.Context, feedback.Act) error { return errors.New("disk full") }
	if status, text, _ := request(t, web, "POST", s.Path()+"act", `{"do":"split","groups":[1]}`, nil); status != 500 || text != "disk full\n" {
		t.Errorf("an error is answered by %d %q", status, text)
	}
	session.before = nil
	if st := post("act", `{"do":"skip","pictures":[0,1]}`); st.Acts != 2 {
		t.Errorf("in the end: %+v", st)
	}
	// A repeated request is done once, and a failed one is done at the repetition.
	for _, request := range []struct {
		path, body string
		acts       int
	}{
		{"act", `{"do":"split","groups":[1],"id":"a 1"}`, 3}, {"act", `{"do":"split","groups":[1],"id":"a 1"}`, 3}, {"act", `{"do":"split","groups":[1],"id":"a 2"}`, 4},
		{"undo", `{"id":"a 3"}`, 3}, {"undo", `{"id":"a 3"}`, 3}, {"act", `{"do":"split","groups":[1]}`, 4}, {"act", `{"do":"split","groups":[1]}`, 5},
	} {
		if st := post(request.path, request.body); st.Acts != request.acts {
			t.Errorf("%s %s: %d acts, want %d", request.path, request.body, st.Acts, request.acts)
		}
	}
	if status, _, _ := request(t, web, "POST", s.Path()+"act", `{"do":"split","groups":[1],"model":"another"}`, nil); status != 409 {
		t.Errorf("an act on other groups: %d", status)
	}
	if status, _, _ := request(t, web, "POST", s.Path()+"undo", `{"id":"`+strings.Repeat("x", largestID+1)+`"}`, nil); status != 400 {
		t.Errorf("a long id: %d", status)
	}
	// A state that the client has is not sent again.
	_, _, h := request(t, web, "GET", s.Path()+"state", "", nil)
	has := func(r *http.Request) { r.Header.Set("If-None-Match", h.Get("ETag")) }
	if status, text, _ := request(t, web, "GET", s.Path()+"state", "", has); status != 304 || text != "" {
		t.Errorf("the same state: %d, %q", status, text)
	}
	post("undo", `{}`)
	if status, _, _ := request(t, web, "GET", s.Path()+"state", "", has); status != 200 {
		t.Errorf("another state: %d", status)
	}
}

// TestOneAtATime: acts do not overlap, the state is served meanwhile, and an act is finished even if its client has
// gone.
func TestOneAtATime(t *testing.T) {
	g := newGrouping(t, 12)
	session := newFake(g.groups)
	working, goOn := make(chan int, 2), make(chan struct{})
	running := 0
	session.before = func(ctx context.Context, a feedback.Act) error {
		running++ // the race detector sees concurrent acts
		defer func() { running-- }()
		working <- a.Pictures[0]
		select {
		case <-goOn:
			return nil
		case <-ctx.Done():
			return ctx.Err()
		}
	}
	s, web := start(t, g, session)
	ctx, cancel := context.WithCancel(t.Context())
	away := make(chan error, 1)
	send := func(ctx context.Context, picture int, done chan<- error) {
		r, err := http.NewRequestWithContext(ctx, "POST", web.URL+s.Path()+"act", strings.NewReader(fmt.Sprintf(`{"do":"move","pictures":[%d],"groups":[1]}`, picture)))
		if err == nil {
			r.Header.Set("Content-Type", "application/json")
			var answer *http.Response
			if answer, err = http.DefaultClient.Do(r); err == nil {
				err = answer.Body.Close()
			}
		}
		done <- err
	}
	go send(ctx, 0, away)
	<-working
	cancel()
	if err := <-away; !errors.Is(err, context.Canceled) {
		t.Fatal(err)
	}
	second := make(chan error, 1)
	go send(t.Context(), 3, second)
	if status, _, _ := request(t, web, "GET", s.Path()+"state", "", nil); status != 200 {
		t.Errorf("the state is %d while an act runs", status)
	}
	select {
	case i := <-working:
		t.Fatalf("the act of picture %d began before the other ended", i)
	case <-time.After(50 * time.Millisecond):
	}
	goOn <- struct{}{}
	<-working
	goOn <- struct{}{}
	if err := <-second; err != nil {
		t.Fatal(err)
	}
	_, text, _ := request(t, web, "GET", s.Path()+"state", "", nil)
	if st := stateOf(t, text); st.Groups[0] != 1 || st.Groups[3] != 1 || running != 0 {
		t.Errorf("in the end: %+v", st)
	}
}

// TestRun: the server ends when the person is finished, when it is stopped, and when ready fails.
func TestRun(t *testing.T) {
	g := newGrouping(t, 12)
	finished := errors.New("none")
	for _, how := range []string{"finish", "stop", "stop at work", "not ready"} {
		ctx, cancel := context.WithCancelCause(t.Context())
		stopped, notReady := errors.New("stopped"), errors.New("not ready")
		session := newFake(g.groups)
		working := make(chan struct{}, 1)
		session.before = func(ctx context.Context, _ feedback.Act) error {
			working <- struct{}{}
			if how == "stop at work" {
				<-ctx.Done()
				return ctx.Err()
			}
			return nil
		}
		address := make(chan string, 1)
		done := make(chan error, 1)
		go func() {
			done <- Run(ctx, session, g.dir, g.files, nil, 0, func(a string) error {
				if how == "not ready" {
					return notReady
				}
				address <- a
				return nil
			})
		}()
		post := func(path, body string) int {
			r, err := http.NewRequestWithContext(t.Context(), "POST", path, strings.NewReader(body))
			if err != nil {
				t.Fatal(err)
			}
			r.Header.Set("Content-Type", "application/json")
			answer, err := http.DefaultClient.Do(r)
			if err != nil {
				t.Fatal(err)
			}
			defer answer.Body.Close()
			return answer.StatusCode
		}
		var want error
		switch how {
		case "finish":
			a := <-address
			if status := post(a+"act", `{"do":"split","groups":[0]}`); status != 200 {
				t.Errorf("an act is answered by %d", status)
			}
			if status := post(a+"finish", `{}`); status != 200 {
				t.Errorf("the end is answered by %d", status)
			}
			want = nil
		case "stop":
			<-address
			cancel(stopped)
			want = stopped
		case "stop at work":
			a := <-address
			answered := make(chan int)
			go func() { answered <- post(a+"act", `{"do":"split","groups":[0]}`) }()
			<-working
			cancel(stopped)
			if status := <-answered; status != 503 {
				t.Errorf("an act that is stopped is answered by %d", status)
			}
			want = stopped
		case "not ready":
			want = notReady
		}
		select {
		case err := <-done:
			if !errors.Is(err, want) || (err == nil) != (want == nil) {
				t.Errorf("%s: got error %v, want %v", how, err, want)
			}
		case <-time.After(20 * time.Second):
			t.Fatalf("%s: it does not end", how)
		}
		cancel(finished)
	}
}

// TestSlowClient: a client that does not send its announced body blocks nobody, and is cut off.
func TestSlowClient(t *testing.T) {
	defer func(before time.Duration) { acceptable = before }(acceptable)
	acceptable = 200 * time.Millisecond
	g := newGrouping(t, 12)
	s, web := start(t, g, newFake(g.groups))
	c, err := net.Dial("tcp", web.Listener.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	fmt.Fprintf(c, "POST %sact HTTP/1.1\r\nHost: %s\r\nContent-Type: application/json\r\nContent-Length: 100\r\n\r\n{", s.Path(), web.Listener.Addr())
	if status, _, _ := request(t, web, "POST", s.Path()+"act", `{"do":"split","groups":[0]}`, nil); status != 200 {
		t.Errorf("another act is answered by %d", status)
	}
	_ = c.SetReadDeadline(time.Now().Add(20 * time.Second))
	answer, err := io.ReadAll(c)
	if err != nil || !bytes.HasPrefix(answer, []byte("HTTP/1.1 400")) {
		t.Errorf("it is answered by %.100q, %v", answer, err)
	}
}

// TestDeafClient: a client that sends many acts and reads no answer blocks nobody, and is cut off.
func TestDeafClient(t *testing.T) {
	defer func(before time.Duration) { acceptable = before }(acceptable)
	g := newGrouping(t, 12)
	deaf := func(t *testing.T) (*Server, *httptest.Server) {
		t.Helper()
		session := newFake(g.groups)
		session.state.Names[2] = strings.Repeat("long ", 1<<19) // more than the buffers of a connection hold
		s, web := start(t, g, session)
		c, err := net.Dial("tcp", web.Listener.Addr().String())
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { c.Close() })
		_ = c.(*net.TCPConn).SetReadBuffer(1024)
		skip := `{"do":"skip","pictures":[0,1]}`
		fmt.Fprint(c, strings.Repeat(fmt.Sprintf("POST %sact HTTP/1.1\r\nHost: %s\r\nContent-Type: application/json\r\nContent-Length: %d\r\n\r\n%s", s.Path(), web.Listener.Addr(), len(skip), skip), 20))
		if _, err := io.ReadFull(c, make([]byte, 1)); err != nil { // the first answer is on its way
			t.Fatal(err)
		}
		return s, web
	}
	t.Run("others act", func(t *testing.T) {
		acceptable = time.Hour
		s, web := deaf(t)
		client := &http.Client{Timeout: 20 * time.Second}
		answer, err := client.Post(web.URL+s.Path()+"act", "application/json", strings.NewReader(`{"do":"move","pictures":[0],"groups":[1]}`))
		if err != nil {
			t.Fatal(err)
		}
		answer.Body.Close()
	})
	t.Run("cut off", func(t *testing.T) {
		acceptable = 100 * time.Millisecond
		_, web := deaf(t)
		closed := make(chan struct{})
		go func() {
			web.Close() // waits for the answer
			close(closed)
		}()
		select {
		case <-closed:
		case <-time.After(20 * time.Second):
			t.Fatal("it is still being answered")
		}
	})
}

// TestToken: the address of results is stable and private, and foreign files are not replaced.
func TestToken(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, tokenFile)
	first := tokenOf(dir)
	info, err := os.Stat(path)
	if err != nil || runtime.GOOS != "windows" && info.Mode().Perm() != 0o600 {
		t.Fatalf("the token is kept as %v, %v", info.Mode(), err)
	}
	if again := tokenOf(dir); again != first || len(first) != 26 {
		t.Errorf("the token is %q, and then %q", first, again)
	}
	if other := tokenOf(t.TempDir()); other == first {
		t.Error("two folders have one token")
	}
	if runtime.GOOS != "windows" {
		if err := os.Chmod(path, 0o644); err != nil {
			t.Fatal(err)
		}
		second := tokenOf(dir)
		if info, err := os.Stat(path); second == first || err != nil || info.Mode().Perm() != 0o600 || tokenOf(dir) != second {
			t.Errorf("a token that others could read: %q, then %q, %v", first, second, err)
		}
	}
	for _, text := range []string{"mine", strings.Repeat("AB", 14)} {
		write(t, path, text)
		if token := tokenOf(dir); len(token) != 26 || token == tokenOf(dir) {
			t.Errorf("beside a foreign file the token is %q", token)
		}
		if got, err := os.ReadFile(path); err != nil || string(got) != text {
			t.Errorf("the file is %q, %v", got, err)
		}
	}
}

// TestPort80: browsers omit port 80.
func TestPort80(t *testing.T) {
	for host, ok := range map[string]bool{"127.0.0.1": true, "localhost": true, "[::1]": true, "localhost:80": true, "example.com": false, "localhost:81": false, "::1": false, "": false} {
		for port, ok := range map[int]bool{80: ok, 8080: false} {
			r := httptest.NewRequest(http.MethodGet, "/", nil)
			r.Host = host
			r = r.WithContext(context.WithValue(r.Context(), http.LocalAddrContextKey, net.Addr(&net.TCPAddr{IP: net.IPv4(127, 0, 0, 1), Port: port})))
			if forLoopback(r) != ok {
				t.Errorf("the host %q at port %d: %v", host, port, !ok)
			}
		}
	}
}

// TestNoPage: results that cannot be served are refused with the remedy.
func TestNoPage(t *testing.T) {
	g := newGrouping(t, 12)
	if _, err := New(t.Context(), newFake(g.groups[:9]), g.dir, g.files, nil); err == nil || !strings.Contains(err.Error(), "12 images but the groups have 9") {
		t.Errorf("other pictures: %v", err)
	}
	if _, err := New(t.Context(), newFake(g.groups), filepath.Join(g.dir, "nothing"), g.files, nil); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("no folder: %v", err)
	}
	if err := os.Remove(filepath.Join(g.dir, "page", "data.js")); err != nil {
		t.Fatal(err)
	}
	if _, err := New(t.Context(), newFake(g.groups), g.dir, g.files, nil); !errors.Is(err, report.ErrPage) {
		t.Errorf("no data: %v", err)
	}
}

// FuzzRequest: no request causes a fault of the server, and only files of the page are served.
func FuzzRequest(f *testing.F) {
	g := newGrouping(f, 12)
	f.Add("POST", "act", `{"do":"move","pictures":[0],"groups":[1]}`)
	f.Add("POST", "act", `{"do":"merge","groups":[1,0],"name":"a"}`)
	f.Add("POST", "act", `{"do":"apart","pictures":[1,2]}`)
	f.Add("POST", "undo", `{}`)
	f.Add("GET", "original/7", ``)
	f.Add("GET", "pictures/000.jpg", ``)
	f.Add("GET", "../model.npz", ``)
	web := &net.TCPAddr{IP: net.IPv4(127, 0, 0, 1), Port: 99}
	f.Fuzz(func(t *testing.T, method, path, body string) {
		s, err := New(t.Context(), newFake(g.groups), g.dir, g.files, nil)
		if err != nil {
			t.Fatal(err)
		}
		defer s.Close()
		r := (&http.Request{
			Method: method, Host: web.String(), URL: &url.URL{Path: s.Path() + path}, Header: http.Header{"Content-Type": {"application/json"}},
			Body: io.NopCloser(strings.NewReader(body)),
		}).WithContext(context.WithValue(t.Context(), http.LocalAddrContextKey, net.Addr(web)))
		w := httptest.NewRecorder()
		s.ServeHTTP(w, r)
		switch {
		case w.Code >= 500:
			t.Errorf("%q %q %q: %d %s", method, path, body, w.Code, w.Body)
		case w.Code == 200 && method == http.MethodPost && path != "finish":
			stateOf(t, w.Body.String())
		}
	})
}

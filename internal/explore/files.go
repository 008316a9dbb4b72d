package explore

import (
	"fmt"
	"io"
	"io/fs"
	"net/http"
	"os"
	"path"
	"slices"
	"strconv"
	"strings"

	"github.com/seed4492f2cd/partwise/report"
)

func (s *Server) servePage(w http.ResponseWriter, _ *http.Request) error {
	limitAnswer(w)
	w.Header().Set("Content-Security-Policy", s.page.Policy+"; frame-ancestors 'none'")
	w.Header().Set("Content-Type", "text/html; charset=utf-8")
	_, _ = w.Write(s.page.HTML) // the client may have gone
	return nil
}

// types are the media types of the files of a grouping, by extension.
var types = map[string]string{
	".js": "text/javascript; charset=utf-8", ".png": "image/png", ".jpg": "image/jpeg", ".svg": "image/svg+xml", ".pdf": "application/pdf", ".csv": "text/csv; charset=utf-8",
}

// file serves files that the page loads or links to: its scripts, and the images, drawings and lists of
// the results. It serves no file outside of the folder, even through symbolic links, and no file of the
// folder that a browser would run.
func (s *Server) file(w http.ResponseWriter, r *http.Request) error {
	name := r.PathValue("file")
	kind := types[path.Ext(name)]
	if text, ok := s.page.Files[name]; ok {
		limitAnswer(w)
		w.Header().Set("Content-Type", kind)
		_, _ = w.Write(text) // the client may have gone
		return nil
	}
	if folder, _, below := strings.Cut(name, "/"); below {
		folder += "/"
		if !slices.Contains(report.ClustersFiles, folder) || folder == "page/" {
			return errNothing
		}
	} else if !slices.Contains(report.GroupingFiles, name) {
		return errNothing
	}
	if kind == "" || path.Ext(name) == ".js" || !fs.ValidPath(name) || strings.ContainsAny(name, `\:`) {
		return errNothing
	}
	if info, err := s.root.Stat(name); err != nil || !info.Mode().IsRegular() {
		return errNothing
	}
	f, err := s.root.Open(name)
	if err != nil {
		return errNothing
	}
	defer f.Close()
	return content(w, r, f, kind)
}

// safe are the kinds of images that a browser shows and does not run.
var safe = []string{"image/jpeg", "image/png", "image/gif", "image/webp", "image/bmp"}

// original serves the picture of a row.
func (s *Server) original(w http.ResponseWriter, r *http.Request) error {
	i, err := strconv.Atoi(r.PathValue("row"))
	if err != nil || i < 0 || i >= len(s.files) || s.files[i] == "" || strconv.Itoa(i) != r.PathValue("row") {
		return errNothing
	}
	unreadable := failure(http.StatusNotFound, "the picture is no longer there, or cannot be read")
	if info, err := os.Stat(s.files[i]); err != nil || !info.Mode().IsRegular() {
		return unreadable
	}
	f, err := os.Open(s.files[i])
	if err != nil {
		return unreadable
	}
	defer f.Close()
	begin, err := io.ReadAll(io.NewSectionReader(f, 0, 512))
	if err != nil {
		return unreadable
	}
	kind := http.DetectContentType(begin)
	if !slices.Contains(safe, kind) {
		return failure(http.StatusUnsupportedMediaType, "a browser does not show pictures of this kind")
	}
	return content(w, r, f, kind)
}

// content serves a file, which the browser may cache but must revalidate: other results have the same address.
func content(w http.ResponseWriter, r *http.Request, f *os.File, kind string) error {
	info, err := f.Stat()
	if err != nil {
		return failure(http.StatusNotFound, "the file cannot be read")
	}
	limitAnswer(w)
	h := w.Header()
	if kind != "application/pdf" { // of which the browser's own view is not shown in a sandbox
		h.Set("Content-Security-Policy", "default-src 'none'; style-src 'unsafe-inline'; sandbox; frame-ancestors 'none'")
	}
	h.Set("Cache-Control", "private, no-cache")
	h.Set("ETag", fmt.Sprintf(`"%x-%x"`, info.ModTime().UnixNano(), info.Size()))
	h.Set("Content-Type", kind)
	http.ServeContent(w, r, "", info.ModTime(), f)
	return nil
}

package catalogue

import (
	"cmp"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/seed4492f2cd/partwise/internal/text/phrase"
)

// Info tells of a known set.
type Info struct {
	// Name is what Open and Get know the set by.
	Name  string
	Title string
	// Samples and Classes are the numbers in the whole set.
	Samples, Classes int
	// Content says what a sample is and how large.
	Content string
	// Citation is the paper to cite, Licence the owners' terms in short and
	// Home the page to read them on.
	Citation, Licence, Home string
	// How says where to get the set if it cannot be downloaded.
	How string
	// Forms are the forms that the set is found in, the preferred one first.
	Forms []Form
}

// Form is one of the forms in which a known set is handed around.
type Form struct {
	// From is "mat" for vectors in a MATLAB file, "raw" for what the owners
	// gave out.
	From string
	// Files is what to download, or empty where it cannot be.
	Files []Download

	// VectorFile is the name of a form that is one file of vectors, and Height and Width the
	// size of the images that it holds.
	VectorFile    string
	Height, Width int
	// Else the set is the folder, one of places or up to maxDepth folders further down, that
	// holds one of marks.
	places, marks []string
	// IDX tells that the folder holds IDX files, not images. Pattern, Pool and Omit say of
	// images where the classes are found, and which are none of the set's. With Looks the
	// pattern is tried on any folder with one of marks, whatever its name.
	IDX, Pool, Looks bool
	Pattern          string
	Omit             []string
}

// Download is one file to fetch for a known set.
type Download struct {
	// File is its name in the set's folder.
	File string
	// URLs are the addresses that give it, to be tried in turn.
	URLs []string
	// Hosts are those that the addresses may redirect to, beside their own.
	// Where a sum is published that may be any host, over https.
	Hosts []string
	// SHA256 is the published sum of the file or, where it is gzipped, of its
	// content, and MD5 that of the file where only that is published. Both are
	// empty where none is.
	SHA256, MD5 string
	// MaxBytes is the most that a server may send for the file, and MaxUnpacked
	// the most that may be unpacked from it, well above what both are. 0 stands
	// for 1 and 2 GiB.
	MaxBytes, MaxUnpacked int64
	// Unpack tells that the file is an archive, and inner the archive within
	// it that holds the images, if they are packed twice.
	Unpack bool
	inner  string
}

const (
	fromMAT = "mat"
	fromRaw = "raw"
)

// maxDepth is how many folders may lie between a place where a set is looked
// for and its images; archives often bring some.
const maxDepth = 3

const (
	defaultMaxBytes    = int64(1 << 30)
	defaultMaxUnpacked = int64(2 << 30)
)

const (
	caiHome     = "http://www.cad.zju.edu.cn/home/dengcai/Data/"
	caiLicence  = "; the MATLAB file was prepared by Deng Cai, who asks to be cited too"
	scenesZip   = "http://www-cvr.ai.uiuc.edu/ponce_grp/data/scene_categories/scene_categories.zip"
	scenesTerms = "none stated; for research"
)

// known are the known sets, in the order in which they are listed.
var known = []Info{
	{
		Name: "yale", Title: "Yale face database", Samples: 165, Classes: 15,
		Content:  "grey faces of 15 people under 11 lights and expressions: 32×32 (mat) or 320×243 (raw)",
		Citation: "P. N. Belhumeur, J. P. Hespanha, D. J. Kriegman: Eigenfaces vs. Fisherfaces: recognition using class specific linear projection. IEEE TPAMI 19(7), 1997",
		Licence:  "free for research; not to be passed on within a larger set without Yale's permission" + caiLicence,
		Home:     "http://vision.ucsd.edu/content/yale-face-database",
		Forms: []Form{
			{
				From: fromMAT, VectorFile: "Yale_32x32.mat", Height: 32, Width: 32,
				Files: []Download{{
					File: "Yale_32x32.mat", URLs: []string{caiHome + "Yale/Yale_32x32.mat"},
					SHA256: "beb3cc9f448c1ab786583c8f5429368c299843ee88263f9650ed463004ef7633", MaxBytes: 1 << 20,
				}},
			},
			{
				From: fromRaw, places: []string{"yale-gif", "yalefaces", "yale", "."}, marks: []string{"subject01.*"},
				Pattern: "subject{class}.*", Looks: true,
				Files: []Download{{
					File: "yalefaces.zip", Unpack: true, MaxBytes: 32 << 20, MaxUnpacked: 128 << 20,
					URLs: []string{"http://vision.ucsd.edu/datasets/yale_face_dataset_original/yalefaces.zip"},
				}},
			},
		},
	},
	{
		Name: "orl", Title: "ORL (AT&T) database of faces", Samples: 400, Classes: 40,
		Content:  "grey faces of 40 people, 10 each: 32×32 (mat) or 92×112 (raw)",
		Citation: "F. S. Samaria, A. C. Harter: Parameterisation of a stochastic model for human face identification. IEEE Workshop on Applications of Computer Vision, 1994",
		Licence:  "free to use with credit to AT&T Laboratories Cambridge" + caiLicence,
		Home:     "https://www.cl.cam.ac.uk/research/dtg/attarchive/facedatabase.html",
		Forms: []Form{
			{
				From: fromMAT, VectorFile: "ORL_32x32.mat", Height: 32, Width: 32,
				Files: []Download{{
					File: "ORL_32x32.mat", URLs: []string{caiHome + "ORL/ORL_32x32.mat"},
					SHA256: "c30cb53be2cab2da293eaeb35c1a7c16cad513fa14d0400ad5ed51f03e1ce7c8", MaxBytes: 2 << 20,
				}},
			},
			{
				From: fromRaw, places: []string{"orl-pgm", "att_faces", "orl_faces", "orl", "."}, marks: []string{"s1/1.pgm"},
				Files: []Download{{
					File: "att_faces.zip", Unpack: true, Hosts: []string{"cam-orl.co.uk"}, MaxBytes: 16 << 20, MaxUnpacked: 64 << 20,
					URLs: []string{"https://www.cl.cam.ac.uk/Research/DTG/attarchive/pub/data/att_faces.zip"},
				}},
			},
		},
	},
	{
		Name: "coil20", Title: "Columbia object image library, COIL-20", Samples: 1440, Classes: 20,
		Content:  "grey pictures of 20 objects on a turntable, 72 each: 32×32 (mat) or 128×128 (raw)",
		Citation: "S. A. Nene, S. K. Nayar, H. Murase: Columbia object image library (COIL-20). Technical report CUCS-005-96, Columbia University, 1996",
		Licence:  "for research only" + caiLicence,
		Home:     "https://www.cs.columbia.edu/CAVE/software/softlib/coil-20.php",
		Forms: []Form{
			{
				From: fromMAT, VectorFile: "COIL20.mat", Height: 32, Width: 32,
				Files: []Download{{
					File: "COIL20.mat", URLs: []string{caiHome + "COIL20/COIL20.mat"},
					SHA256: "2a35c105dbb327492b90389e55612bcbf39187bc7c408252239903e4ce7d6958", MaxBytes: 32 << 20,
				}},
			},
			{
				From: fromRaw, places: []string{"coil-20-proc", "coil20", "coil-20", "."}, marks: []string{"obj1__0.png"},
				Pattern: "obj{class}__*.png", Looks: true,
				Files: []Download{{
					File: "coil-20-proc.zip", Unpack: true, MaxBytes: 64 << 20, MaxUnpacked: 128 << 20,
					MD5:  "464dec76a6abfcd00e8de6cf1e7d0acc",
					URLs: []string{"https://www.cs.columbia.edu/CAVE/databases/SLAM_coil-20_coil-100/coil-20/coil-20-proc.zip"},
				}},
			},
		},
	},
	{
		Name: "mnist", Title: "MNIST handwritten digits", Samples: 70000, Classes: 10,
		Content:  "grey digits of 28×28, 60,000 to train and 10,000 to test",
		Citation: "Y. LeCun, L. Bottou, Y. Bengio, P. Haffner: Gradient-based learning applied to document recognition. Proceedings of the IEEE 86(11), 1998",
		Licence:  "Creative Commons BY-SA 3.0",
		Home:     "http://yann.lecun.com/exdb/mnist/",
		Forms: []Form{{
			From: fromRaw, places: []string{"mnist", "MNIST", "."}, marks: []string{"train-images*idx3-ubyte*", "t10k-images*idx3-ubyte*"},
			IDX: true,
			Files: []Download{
				mnistFile("train-images-idx3-ubyte.gz", "ba891046e6505d7aadcbbe25680a0738ad16aec93bde7f9b65e87a2fc25776db"),
				mnistFile("train-labels-idx1-ubyte.gz", "65a50cbbf4e906d70832878ad85ccda5333a97f0f4c3dd2ef09a8a9eef7101c5"),
				mnistFile("t10k-images-idx3-ubyte.gz", "0fa7898d509279e482958e8ce81c8e77db3f2f8254e26661ceb7762c4d494ce7"),
				mnistFile("t10k-labels-idx1-ubyte.gz", "ff7bcfd416de33731a308c3f266cc351222c34898ecbeaf847f06e48f7ec33f2"),
			},
		}},
	},
	{
		Name: "feret", Title: "FERET faces, the extract of 200 people", Samples: 1400, Classes: 200,
		Content:  "grey faces of 200 people, 7 each, 32×32",
		Citation: "P. J. Phillips, H. Moon, S. A. Rizvi, P. J. Rauss: The FERET evaluation methodology for face-recognition algorithms. IEEE TPAMI 22(10), 2000",
		Licence:  "for research, under an agreement with NIST",
		Home:     "https://www.nist.gov/itl/products-and-services/color-feret-database",
		How:      "ask NIST for the FERET images, and put the extract FERET_32x32.mat (variables fea and gnd) into the data folder",
		Forms:    []Form{{From: fromMAT, VectorFile: "FERET_32x32.mat", Height: 32, Width: 32}},
	},
	{
		Name: "caltech101", Title: "Caltech 101", Samples: 8677, Classes: 101,
		Content:  "colour pictures of 101 kinds of objects, 31 to 800 each, about 300×200; without the class BACKGROUND_Google",
		Citation: "L. Fei-Fei, R. Fergus, P. Perona: Learning generative visual models from few training examples: an incremental Bayesian approach tested on 101 object categories. CVPR Workshop on Generative-Model Based Vision, 2004",
		Licence:  "Creative Commons BY 4.0",
		Home:     "https://data.caltech.edu/records/mzrjq-6wc02",
		Forms: []Form{{
			From: fromRaw, places: []string{"101_ObjectCategories", "caltech101", "caltech-101", "caltech10", "."},
			marks: []string{"BACKGROUND_Google", "airplanes/image_0001.jpg"}, Omit: []string{"BACKGROUND_Google"},
			Files: []Download{{
				File: "caltech-101.zip", Unpack: true, MaxBytes: 512 << 20, MaxUnpacked: 1 << 30, inner: "caltech-101/101_ObjectCategories.tar.gz",
				URLs:   []string{"https://data.caltech.edu/records/mzrjq-6wc02/files/caltech-101.zip"},
				SHA256: "331234750fc7f77520e50d9565e8b6907b03565e30320da1401130db08c61f91",
			}},
		}},
	},
	{
		Name: "scenes13", Title: "Thirteen natural scene categories", Samples: 3859, Classes: 13,
		Content:  "grey pictures of 13 kinds of places, 210 to 410 each, about 250×300: the fifteen categories without industrial and store",
		Citation: "L. Fei-Fei, P. Perona: A Bayesian hierarchical model for learning natural scene categories. CVPR, 2005",
		Licence:  scenesTerms,
		Home:     "http://www-cvr.ai.uiuc.edu/ponce_grp/data/",
		Forms: []Form{{
			From: fromRaw, places: []string{"scenes13", "SceneClass13", "scenes15", "scene_categories", "."},
			marks: []string{"train/[Bb]edroom", "[Bb]edroom"},
			Pool:  true, Omit: []string{"industrial", "store"},
			Files: []Download{scenesFile()},
		}},
	},
	{
		Name: "scenes15", Title: "Fifteen scene categories", Samples: 4485, Classes: 15,
		Content:  "grey pictures of 15 kinds of places, 210 to 410 each, about 250×300",
		Citation: "S. Lazebnik, C. Schmid, J. Ponce: Beyond bags of features: spatial pyramid matching for recognizing natural scene categories. CVPR, 2006",
		Licence:  scenesTerms,
		Home:     "https://figshare.com/articles/dataset/15-Scene_Image_Dataset/7007177",
		Forms: []Form{{
			From: fromRaw, places: []string{"scenes15", "scene_categories", "15-Scene", "."},
			marks: []string{"train/[Bb]edroom", "[Bb]edroom", "14/1.jpg"},
			Pool:  true,
			Files: []Download{scenesFile()},
		}},
	},
	{
		Name: "newsgroups", Title: "20 Newsgroups, sorted by date", Samples: 18846, Classes: 20,
		Content:  "counts of 26,214 words in messages to 20 newsgroups, sparse",
		Citation: "K. Lang: NewsWeeder: learning to filter netnews. ICML, 1995",
		Licence:  "none stated; for research" + caiLicence,
		Home:     "http://qwone.com/~jason/20Newsgroups/",
		Forms: []Form{{
			From: fromMAT, VectorFile: "20Newsgroups.mat",
			Files: []Download{{
				File: "20Newsgroups.mat", URLs: []string{caiHome + "20Newsgroups/20Newsgroups.mat"},
				SHA256: "dc1418f7291a4c09a4ab3b6a7d31c129d6edad7643ac5ec6bdaf67180a000ae8", MaxBytes: 64 << 20,
			}},
		}},
	},
}

func mnistFile(name, sum string) Download {
	return Download{File: name, SHA256: sum, MaxBytes: 32 << 20, MaxUnpacked: 64 << 20, URLs: []string{
		"https://ossci-datasets.s3.amazonaws.com/mnist/" + name,
		"https://storage.googleapis.com/cvdf-datasets/mnist/" + name,
	}}
}

// scenesFile is the archive of the fifteen categories, as their owners gave it
// out and as the Internet Archive keeps it.
func scenesFile() Download {
	return Download{
		File: "scene_categories.zip", Unpack: true, MaxBytes: 256 << 20, MaxUnpacked: 1 << 30,
		MD5:  "58828019197b2ad0a7efb472e7a85c2a",
		URLs: []string{scenesZip, "https://web.archive.org/web/20070829035029/" + scenesZip},
	}
}

// SetPrefix before a name says that it is a known set's, not a path.
const SetPrefix = "set:"

// Generated is the name of the set that the program makes itself.
const Generated = "generated"

// Known returns the known sets and, at the end, the generated one, which is
// always there.
func Known() []Info {
	return append(slices.Clone(known), Info{
		Name: Generated, Title: "Generated objects", Samples: 720, Classes: 20,
		Content: "grey images of 32×32, made from a seed", Licence: "free",
	})
}

// Add adds sets, which Open and Get then know, and returns what removes them again. It is
// called before either is.
func Add(sets ...Info) (remove func()) {
	before := known
	known = append(slices.Clone(known), sets...)
	return func() { known = before }
}

// Lookup returns what is known of the set called name, with or without SetPrefix
// before it, whatever the case of its letters.
func Lookup(name string) (Info, bool) {
	name = strings.TrimPrefix(name, SetPrefix)
	sets := Known()
	i := slices.IndexFunc(sets, func(s Info) bool { return strings.EqualFold(s.Name, name) })
	if i < 0 {
		return Info{}, false
	}
	return sets[i], true
}

// DataDir returns the folder that known sets are downloaded to where nothing
// else is asked for: the one that the environment variable PARTWISE_DATA names
// or else partwise in the user's cache folder.
func DataDir() (string, error) {
	if dir := os.Getenv("PARTWISE_DATA"); dir != "" {
		return dir, nil
	}
	dir, err := os.UserCacheDir()
	if err != nil {
		return "", fmt.Errorf("no folder for the data is given, and there is none for the user's cache: %w", err)
	}
	return filepath.Join(dir, "partwise"), nil
}

// dataDirs returns the folders that hold known sets, in the order in which
// they are looked through: root, if it is given, then PARTWISE_DATA and the
// cache.
func dataDirs(root string) []string {
	dirs := []string{root, os.Getenv("PARTWISE_DATA")}
	if cache, err := os.UserCacheDir(); err == nil {
		dirs = append(dirs, filepath.Join(cache, "partwise"))
	}
	dirs = slices.DeleteFunc(dirs, func(dir string) bool { return dir == "" })
	return slices.Compact(dirs)
}

// Find returns the file or folder that the known set called name is read from, or "" for
// the generated set, which needs none. root is looked through first, and from chooses
// among the forms; both may be "". The error where there is none says where it was
// looked for and how to get it, and is an fs.ErrNotExist.
func Find(name, root, from string) (string, error) {
	info, ok := Lookup(name)
	if !ok {
		return "", Unknown(name)
	}
	if info.Name == Generated {
		return "", nil
	}
	_, path, err := info.Find(root, from)
	return path, err
}

// Find returns the form in which the set is there, and where: see [Find].
func (info *Info) Find(root, from string) (*Form, string, error) {
	forms, err := info.forms(from)
	if err != nil {
		return nil, "", err
	}
	dirs := dataDirs(root)
	for _, dir := range dirs {
		for i := range forms {
			if path := forms[i].find(dir); path != "" {
				return &forms[i], path, nil
			}
		}
	}
	var as []string
	for i := range forms {
		as = append(as, forms[i].String())
	}
	how := cmp.Or(info.How, "see "+info.Home)
	if slices.ContainsFunc(forms, func(f Form) bool { return len(f.Files) > 0 }) {
		how = fmt.Sprintf("\"partwise datasets get %s\" downloads it", info.Name)
	}
	where := "no data folder is known to look in"
	if len(dirs) > 0 {
		where = "it was looked for in " + strings.Join(dirs, ", ")
	}
	return nil, "", notFound(fmt.Sprintf("the set %s is not there: %s, as %s; %s",
		info.Name, where, strings.Join(as, " or "), how))
}

// notFound is an fs.ErrNotExist with a text of its own.
type notFound string

func (e notFound) Error() string { return string(e) }

// Is tells errors.Is what the error is.
func (e notFound) Is(target error) bool { return target == fs.ErrNotExist }

// forms returns the forms that from asks for: "mat", "raw" or "" for all.
func (info *Info) forms(from string) ([]Form, error) {
	if from == "" {
		return info.Forms, nil
	}
	var forms []Form
	var names []string
	for _, f := range info.Forms {
		names = append(names, f.From)
		if f.From == from {
			forms = append(forms, f)
		}
	}
	if len(forms) == 0 {
		return nil, fmt.Errorf("the set %s does not come from %q, only from %s", info.Name, from, strings.Join(names, " or "))
	}
	return forms, nil
}

// String says what the form looks like on disk.
func (f *Form) String() string {
	if f.VectorFile != "" {
		return f.VectorFile
	}
	places := slices.DeleteFunc(slices.Clone(f.places), func(p string) bool { return p == "." })
	return fmt.Sprintf("a folder %s with %s", strings.Join(places, " or "), strings.Join(f.marks, " or "))
}

// find returns where the form is below dir, or "".
func (f *Form) find(dir string) string {
	if f.VectorFile != "" {
		return globOne(dir, f.VectorFile, path.Join("*", f.VectorFile))
	}
	for _, place := range f.places {
		depth := maxDepth
		if place == "." {
			depth = 0
		}
		if found := f.FindIn(filepath.Join(dir, place), depth); found != "" {
			return found
		}
	}
	return ""
}

// findIn returns the folder that holds one of the marks, dir or one up to
// depth folders below, or "".
func (f *Form) FindIn(dir string, depth int) string {
	for below := range depth + 1 {
		for _, mark := range f.marks {
			if found := globOne(dir, strings.Repeat("*/", below)+mark); found != "" {
				for range strings.Count(mark, "/") + 1 {
					found = filepath.Dir(found)
				}
				return found
			}
		}
	}
	return ""
}

// globOne returns the first file below dir that fits one of the patterns.
func globOne(dir string, patterns ...string) string {
	for _, p := range patterns {
		found, err := fs.Glob(os.DirFS(dir), p)
		for _, f := range found {
			// What is in the folder of a download is not complete.
			if err == nil && !slices.Contains(strings.Split(f, "/"), workName) {
				return filepath.Join(dir, filepath.FromSlash(f))
			}
		}
	}
	return ""
}

// Unknown says that nothing is called name, and what may have been meant.
func Unknown(name string) error {
	what := "no known set, file or folder"
	if plain, prefixed := strings.CutPrefix(name, SetPrefix); prefixed {
		name, what = plain, "no known set"
	}
	var names []string
	for _, info := range Known() {
		names = append(names, info.Name)
	}
	return fmt.Errorf("%q is %s%s; \"partwise datasets\" lists the known sets", name, what, phrase.Guess(name, names))
}

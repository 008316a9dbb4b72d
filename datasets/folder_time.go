package datasets

import (
	"path"
	"regexp"
	"slices"
	"strings"

	"github.com/seed4492f2cd/partwise/internal/naming"
)

// The parts of patterns of names.
const (
	year       = `(19|20)[0-9]{2}`
	month      = `(0?[1-9]|1[0-2])`
	day        = `(0?[1-9]|[12][0-9]|3[01])`
	monthName  = `(jan(uary)?|feb(ruary)?|mar(ch)?|apr(il)?|may|june?|july?|aug(ust)?|sep(t(ember)?)?|oct(ober)?|nov(ember)?|dec(ember)?)`
	divided    = `[-_. ]`
	andMore    = `([-_., ].*)?$`
	shotNumber = `[-_ ]?[0-9]{3,}`
)

var (
	// dateName fits names that begin with a date: 2019, 2019-05, 2019-05-12 Trip, 20190512, 12.05.2019, May 2019.
	dateName = regexp.MustCompile(`(?i)^(` + strings.Join([]string{
		year + `(` + divided + month + `(` + divided + day + `)?)?`, year + `(0[1-9]|1[0-2])(0[1-9]|[12][0-9]|3[01])?`,
		day + divided + month + divided + year, month + divided + year, monthName + divided + `*` + year, year + divided + monthName,
	}, `|`) + `)` + andMore)
	// dcfName fits names that cameras give, such as 100CANON, and also numbers (JEITA CP-3461).
	dcfName = regexp.MustCompile(`^[1-9][0-9]{2}[A-Z0-9_]{5}$`)
	// cameraName fits other names of cameras and telephones: IMG_1000, Camera Roll.
	cameraName = regexp.MustCompile(`(?i)^(img|dscn?|dscf|pxl|mvi|vid|gopr)` + shotNumber + andMore +
		`|^(dcim|camera ?roll|camera uploads?|my photo stream|photo stream|screenshots?|screen shots?|saved pictures|recents|downloads?` +
		`|whatsapp( images)?|telegram( images)?|instagram|snapchat|viber( images)?|messenger|signal)$|^(?-i:Camera)$`)
	// partOfDate fits names that are a month or a day where a folder around them is a year.
	partOfDate = regexp.MustCompile(`(?i)^([0-9]{1,2}|` + monthName + `)` + andMore)
)

// timeFolders returns the folders that hold images of these names, if at least half look as if a date, a camera or a
// telephone had named them, those that do, and how many folders there are. Folders around all of them do not count.
func timeFolders(names []string) (found []string, of int) {
	var folders []string
	for _, name := range names {
		if folder := path.Dir(name); folder != "." {
			folders = append(folders, folder)
		}
	}
	slices.SortFunc(folders, naming.CompareNatural)
	folders = slices.Compact(folders)
	common := 0 // how many folders lie around all
	if len(folders) > 0 {
		first, last := strings.Split(folders[0], "/"), strings.Split(folders[len(folders)-1], "/")
		for common < min(len(first), len(last)) && first[common] == last[common] {
			common++
		}
	}
	for _, folder := range folders {
		parts := strings.Split(folder, "/")
		last := len(parts) - 1
		looks := func(name string) bool {
			name = strings.TrimSpace(name)
			return dateName.MatchString(name) || cameraName.MatchString(name) || dcfName.MatchString(name) && naming.Digits(name) < len(name)
		}
		if slices.ContainsFunc(parts[min(common, last):], looks) || partOfDate.MatchString(parts[last]) && slices.ContainsFunc(parts, dateName.MatchString) {
			found = append(found, folder)
		}
	}
	if 2*len(found) < len(folders) {
		return nil, 0
	}
	return found, len(folders)
}

package datasets

import (
	"slices"
	"strings"
	"testing"
)

// TestTimeFolders: folders that dates and cameras name are no classes, where they are half of those that hold images or
// more, and folders of classes are, whatever lies around them.
func TestTimeFolders(t *testing.T) {
	for _, test := range []struct {
		folders string // divided by |
		times   int    // how many look like dates or cameras, 0 where classes are read
	}{
		{"2019|2020|2021", 3},
		{"2019-05|2019-06|2020_01", 3},
		{"2019-05-12 Trip|2019-05-13|2020.01.01, New Year|20190512|20190512_wedding|201905", 6},
		{"12.05.2019|1-6-2020|05-2019|May 2019|2019 July|march 2001 snow", 6},
		{"2018/05|2019/05|2019/12", 3},
		{"2019/05|2019/06", 2},
		{"2019/01 January|2019/February|2019/03", 3},
		{"2018/Rome|2019/Wedding", 2},
		{"IMG_1000|IMG_2000|DSC00012", 3},
		{"100CANON|101CANON|102MSDCF|100APPLE|123_PANA|105_0512", 6},
		{"DCIM/100CANON|DCIM/Camera", 2},
		{"DCIM/Camera|Pictures/Screenshots|WhatsApp Images|Camera Roll|camera uploads", 5},
		{"2019|Camera Roll|Family|Screenshots", 3},
		{"2019|cat", 1},
		{"Camera", 1},
		{"2019|cat|dog", 0},
		{"cat|dog|IMG_1000|owl", 0},
		{"accordion|camera|cup", 0},
		{"camera|cup", 0},
		{"2019 pictures/cat|2019 pictures/dog", 0},
		{"DCIM/cat|DCIM/dog", 0},
		{"0|1|2|3|10", 0},
		{"s1|s2|s40", 0},
		{"001.ak47|002.american-flag", 0},
		{"n01440764|n02102040", 0},
		{"10012345|20012345", 0},
		{"1|2|12|31", 0},
		{"Coast|Forest|may|augusta", 0},
		{"20|19|1850|3000", 0},
		{"2019abc|2019def", 0},
		{"image_0001|img1|p002", 0},
		{"101_ObjectCategories/cat|101_ObjectCategories/dog", 0},
		{"train/cat|test/dog", 0},
	} {
		folders := strings.Split(test.folders, "|")
		files := []string{"beside.pgm"}
		for _, folder := range folders {
			files = append(files, folder+"/1.pgm")
		}
		dir := tree(t, files...)
		set, err := Folder(t.Context(), dir, FolderOptions{})
		if err != nil {
			t.Errorf("%s: %v", test.folders, err)
			continue
		}
		if classes := len(set.Classes); len(set.TimeFolders) != test.times || (classes == 0) != (test.times > 0) || set.FolderClasses == (test.times > 0) {
			t.Errorf("%s: %d classes, %q look like dates or cameras, want %d", test.folders, classes, set.TimeFolders, test.times)
		}
		if test.times > 0 && (set.Folders != len(folders) || set.Subset([]int{0}).Folders != len(folders)) {
			t.Errorf("%s: %d folders", test.folders, set.Folders)
		}
		pooled, err := Folder(t.Context(), dir, FolderOptions{Pool: true})
		if err != nil || pooled.TimeFolders != nil || !pooled.FolderClasses || len(pooled.Classes) == 0 {
			t.Errorf("%s with pool: classes %q, %q, %v", test.folders, pooled.Classes, pooled.TimeFolders, err)
		}
		if set, err := Folder(t.Context(), dir, FolderOptions{NoClasses: true}); err != nil || set.TimeFolders != nil || len(set.Classes) > 0 {
			t.Errorf("%s without classes: %q, %q, %v", test.folders, set.Classes, set.TimeFolders, err)
		}
	}
	if set, err := Folder(t.Context(), tree(t, "2019/1.pgm", "2020/1.pgm"), FolderOptions{Pattern: "{class}/*"}); err != nil || !slices.Equal(set.Classes, []string{"2019", "2020"}) {
		t.Errorf("by a pattern: %v, %v", set, err)
	}
}

package report

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/seed4492f2cd/partwise/internal/spreadsheet"
	"github.com/seed4492f2cd/partwise/internal/text/phrase"
	"github.com/seed4492f2cd/partwise/pictures"
	"github.com/seed4492f2cd/partwise/pipeline"
)

// PicturesFile lists the copies, outliers, blurred and blank pictures of a grouping.
const PicturesFile = "pictures.csv"

// PicturesFound sums up what was found about pictures, as in "12 copies in 5 stacks, 3 blurred, 1 outlier",
// or "" for nothing.
func PicturesFound(p *pipeline.Pictures) string {
	if p == nil {
		return ""
	}
	copies, outliers, remarks, stacks := 0, 0, map[string]int{}, map[int]bool{}
	for i, first := range p.CopyOf {
		if first != i {
			copies++
			stacks[first] = true
		}
		if p.Outlier[i] > 0 {
			outliers++
		}
		remarks[p.Remark[i]]++
	}
	var parts []string
	if copies > 0 {
		parts = append(parts, phrase.Count(copies, "copy", "copies")+" in "+phrase.Count(len(stacks), "stack", "stacks"))
	}
	for _, remark := range []string{pictures.Blurred, pictures.Blank} {
		if n := remarks[remark]; n > 0 {
			parts = append(parts, fmt.Sprintf("%d %s", n, remark))
		}
	}
	if outliers > 0 {
		parts = append(parts, phrase.Count(outliers, "outlier", "outliers"))
	}
	return strings.Join(parts, ", ")
}

// pictures lists for each picture the original of its stack of copies, whether it is an exact or a near copy,
// the probability that it is an outlier, its sharpness and a remark.
func (c Clusters) pictures() [][]string {
	lines := [][]string{{"file", "copy_of", "copy", "outlier", "sharpness", "remark"}}
	p := c.Pictures
	for i, name := range c.Names {
		line := []string{spreadsheet.Cell(name), "", "", "", "", p.Remark[i]}
		if first := p.CopyOf[i]; first != i {
			line[1], line[2] = spreadsheet.Cell(c.Names[first]), "exact"
			if p.Near[i] {
				line[2] = "near"
			}
		}
		if p.Outlier[i] > 0 {
			line[3] = strconv.FormatFloat(p.Outlier[i], 'f', 2, 64)
		}
		if p.Sharpness != nil && p.Sharpness[i] >= 0 {
			line[4] = strconv.FormatFloat(p.Sharpness[i], 'f', 2, 64)
		}
		lines = append(lines, line)
	}
	return lines
}

package report

import (
	"bytes"
	_ "embed"
	"encoding/json"
	"io"

	"github.com/seed4492f2cd/partwise/report/table"
)

// The script and the styles of pages whose tables are sorted and copied, and the script that holds
// what is copied.
const (
	tablesScript = "tables/page.js"
	tablesData   = "tables/data.js"
)

var (
	//go:embed tables.js
	tablesJS string
	//go:embed tables.css
	tablesCSS string
)

// copied are the formats that a page copies tables in.
var copied = map[string]bool{"CSV": true, "LaTeX": true}

// keepTable keeps the text of a table's file for the page to copy.
func (p *page) keepTable(path string, format table.Format, text []byte) {
	if p.tables == nil {
		p.tables = map[string]string{}
	}
	if copied[format.Name] {
		p.tables[path] = string(text)
	}
}

// writeTables writes the script of a page's tables, and what it copies, where there are any.
func (p *page) writeTables() error {
	if p.tables == nil {
		return nil
	}
	text, err := json.Marshal(p.tables)
	if err != nil {
		return err
	}
	p.Styles, p.Scripts = append(p.Styles, tablesCSS), append(p.Scripts, tablesData, tablesScript)
	if err := p.write(tablesData, func(w io.Writer) error {
		_, err := io.Copy(w, bytes.NewReader(append(append([]byte("globalThis.tableFiles = "), text...), ";\n"...)))
		return err
	}); err != nil {
		return err
	}
	return p.write(tablesScript, func(w io.Writer) error {
		_, err := io.WriteString(w, tablesJS)
		return err
	})
}

package output

import (
	"encoding/json"
	"os"
)

// interrupt, where a test sets it, is called before and after each change of the
// file system. An error ends the work there, as the death of the process would.
var interrupt func() error

// step makes one change of the file system.
func step(change func() error) error {
	if interrupt != nil {
		if err := interrupt(); err != nil {
			return err
		}
	}
	if err := change(); err != nil {
		return err
	}
	if interrupt != nil {
		return interrupt()
	}
	return nil
}

// appendLine appends a line of JSON to a file and syncs it. On failure the file stays as it was.
func appendLine(path string, line any) (err error) {
	text, err := json.Marshal(line)
	if err != nil {
		return err
	}
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_APPEND, 0)
	if err != nil {
		return err
	}
	defer func() {
		if closing := f.Close(); err == nil {
			err = closing
		}
	}()
	info, err := f.Stat()
	if err != nil {
		return err
	}
	if _, err = f.Write(append(text, '\n')); err == nil {
		err = f.Sync()
	}
	if err != nil {
		f.Truncate(info.Size())
	}
	return err
}

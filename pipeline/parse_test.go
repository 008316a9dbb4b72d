package pipeline

import (
	"github.com/seed4492f2cd/partwise/internal/settings"
	"github.com/seed4492f2cd/partwise/internal/settings/document"
)

// Parse is experimentfile.Parse, which the tests of this package cannot import.
func Parse(text []byte) (*Experiment, error) {
	e := &Experiment{}
	v, err := document.Parse(text)
	if err == nil {
		err = settings.Decode(v, e)
	}
	if err != nil {
		return nil, document.Excerpt(text, err)
	}
	return e, nil
}

// Set is experimentfile.Set.
func Set(e *Experiment, key, value string) error {
	v, err := document.Parse([]byte(key + ": " + value))
	if err != nil {
		return err
	}
	return settings.Decode(v, e)
}

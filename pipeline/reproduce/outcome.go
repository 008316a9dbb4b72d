package reproduce

import "slices"

// Verdict is the result of judging a claim.
type Verdict string

// The verdicts. Open is for claims that the draws do not decide.
const (
	Open  Verdict = "not decided"
	Holds Verdict = "holds"
	Fails Verdict = "does not hold"
)

// Place says where a printed value lies.
type Place string

// The places, relative to the interval in which a mean of the paper's number of draws lies.
const (
	Nowhere Place = "" // without a printed value, or without enough draws
	Inside  Place = "inside"
	Outside Place = "outside"
	Depends Place = "depends on what the paper leaves unsaid" // inside that of a reading alone
)

// Estimate is a mean over draws with an interval.
type Estimate struct {
	Mean float64 `json:"mean"`
	Low  float64 `json:"low,omitempty"`
	High float64 `json:"high,omitempty"`
	// HasInterval is false where the draws do not tell their spread.
	HasInterval bool `json:"interval,omitempty"`
	Draws       int  `json:"draws"`
}

// Outcome is the result of a recipe.
type Outcome struct {
	Recipe string `json:"recipe"`
	Paper  string `json:"paper"`
	// Draws is the number of whole draws of the protocol, and PaperDraws that of the printed means.
	Draws      int            `json:"draws"`
	PaperDraws int            `json:"paperDraws"`
	Notes      []string       `json:"notes,omitempty"`
	Readings   []string       `json:"readings,omitempty"`
	Claims     []ClaimOutcome `json:"claims"`
	Tables     []TableOutcome `json:"tables,omitempty"`
}

// ClaimOutcome is the result for a claim.
type ClaimOutcome struct {
	Claim
	Verdict Verdict `json:"verdict"`
	// Against is the other method that decided, or the one with the least difference.
	Against string `json:"against,omitempty"`
	// Here is the difference in the unit of scores or iterations, at the look that decided or the last one,
	// with an interval for this set. Wider has the interval for Beyond, for which draws overlap.
	Here     Estimate         `json:"here"`
	Wider    Estimate         `json:"wider"`
	Beyond   string           `json:"beyond,omitempty"`
	Printed  Place            `json:"printed,omitempty"` // the place of the printed gain
	Readings []ReadingOutcome `json:"readings,omitempty"`
}

// TableOutcome is the result for a table.
type TableOutcome struct {
	Where   string        `json:"where"`
	Score   string        `json:"score"`
	Methods []string      `json:"methods"`
	Rows    []int         `json:"rows"` // 0 for averages
	Cells   []CellOutcome `json:"cells"`
}

// CellOutcome is the result for a cell of a table.
type CellOutcome struct {
	Row     int     `json:"row"`
	Method  string  `json:"method"`
	Printed float64 `json:"printed"`
	// Here has the interval of a mean of the paper's number of draws.
	Here     Estimate         `json:"here"`
	Place    Place            `json:"place,omitempty"`
	Readings []ReadingOutcome `json:"readings,omitempty"`
}

// ReadingOutcome is the result of a reading for a value or a claim.
type ReadingOutcome struct {
	Name  string  `json:"name"`
	Value float64 `json:"value,omitempty"`
	// Gives is true if the printed value is inside its interval, or the claim holds.
	Gives bool `json:"gives,omitempty"`
}

// Decided tells whether all claims are decided.
func (o *Outcome) Decided() bool {
	return !slices.ContainsFunc(o.Claims, func(c ClaimOutcome) bool { return c.Verdict == Open })
}

// Surprising tells whether a claim fails or a printed value is outside, so that readings are of use.
func (o *Outcome) Surprising() bool {
	return slices.ContainsFunc(o.Claims, func(c ClaimOutcome) bool { return c.Verdict == Fails || c.Printed == Outside }) ||
		slices.ContainsFunc(o.Tables, func(t TableOutcome) bool {
			return slices.ContainsFunc(t.Cells, func(c CellOutcome) bool { return c.Place == Outside })
		})
}

// Package feedback is relevance feedback: a person looks at groups and says what is wrong
// with them, and the groups are found again under all that was said.
//
// Each act of the person is a label or a link. A Session keeps them, finds the groups again
// from where they are, takes acts back, and asks the question whose answer would tell most.
// All that is said is kept in plain files, which partwise cluster and experiments read too.
package feedback

// Act is one thing that a person says of the groups of a Session. Pictures are rows of its
// inputs, and groups numbers from 0 that stay the same throughout a session; a group that
// has lost all of its pictures keeps its number.
type Act struct {
	Do       Verb   `json:"do"`
	Pictures []int  `json:"pictures,omitempty"`
	Groups   []int  `json:"groups,omitempty"`
	Name     string `json:"name,omitempty"`
}

// Verb says what an act does.
type Verb string

const (
	// Move tells that pictures are of Groups[0], or without groups of a new one, called Name.
	// Pictures that stay where they are are confirmed by it.
	Move Verb = "move"
	// Merge tells that Groups are one. The first stays.
	Merge Verb = "merge"
	// Split parts Groups[0]: Pictures, where there are any, become a group of their own, called
	// Name; otherwise it falls into the two that it is made of best.
	Split Verb = "split"
	// Name gives Groups[0] the name Name, which no other group has.
	Name Verb = "name"
	// Together tells that Pictures belong into one group, whichever that is, and Apart that no
	// two of them do.
	Together Verb = "together"
	Apart    Verb = "apart"
	// Skip leaves the question of two pictures open. It says nothing of them and is not kept.
	Skip Verb = "skip"
)

// State is what there is to show of a session. What is by picture stands in the order of the
// inputs' rows.
type State struct {
	// Groups holds the group of each picture, Names the name of each group or "", and
	// Confidence how surely each picture is in its group, in percent.
	Groups     []int    `json:"groups"`
	Names      []string `json:"names"`
	Confidence []int    `json:"confidence"`
	// Told are the pictures whose group was told, Must and Cannot the pairs that were told to
	// belong together and not to.
	Told   []int    `json:"told"`
	Must   [][2]int `json:"must"`
	Cannot [][2]int `json:"cannot"`
	// Questions are pairs of pictures to ask about, the one whose answer tells most first: several,
	// so that the next one can be asked while the groups are found under the answer.
	Questions []Question `json:"questions"`
	// Model is that of Options: with another one groups have other numbers.
	Model string `json:"model"`
	// Acts is how many acts are in force. Undo and Redo are the acts in words that can be taken
	// back and done again, "" where there is none.
	Acts int    `json:"acts"`
	Undo string `json:"undo"`
	Redo string `json:"redo"`
	// Said is in a sentence or two what the last call did.
	Said string `json:"said"`
}

// Question is whether two pictures belong together. A is unsure of its group, and B a
// typical picture of that group or of the nearest other.
type Question struct {
	A int `json:"a"`
	B int `json:"b"`
}

// MistakeError says what an act asks for that cannot be, in words for the person. Nothing has
// changed by it.
type MistakeError struct{ Err error }

func (e *MistakeError) Error() string { return e.Err.Error() }
func (e *MistakeError) Unwrap() error { return e.Err }

// Package feedback lets a person correct groups. Each correction is an act that adds a label or a link,
// and a Session finds the groups again under all of them, undoes acts, and asks the most useful question.
// The corrections are kept in plain files, which partwise cluster and experiments read too.
package feedback

// Act is a correction. Pictures are rows of the session's inputs. Groups are numbers from 0 that do not
// change during a session, even if a group loses all of its pictures.
type Act struct {
	Do       Verb   `json:"do"`
	Pictures []int  `json:"pictures,omitempty"`
	Groups   []int  `json:"groups,omitempty"`
	Name     string `json:"name,omitempty"`
}

// Verb is the kind of an act.
type Verb string

const (
	// Move labels pictures with Groups[0], or without groups with a new group called Name. Pictures that
	// are in the group already are confirmed.
	Move Verb = "move"
	// Merge joins Groups to one, the first.
	Merge Verb = "merge"
	// Split makes Pictures of Groups[0] a group of their own, called Name. Without pictures it splits the
	// group in two by k-means.
	Split Verb = "split"
	// Name gives Groups[0] a name that no other group has.
	Name Verb = "name"
	// Together says that Pictures belong into one group, and Apart that no two of them do.
	Together Verb = "together"
	Apart    Verb = "apart"
	// Skip leaves questions about pictures open. It is not kept.
	Skip Verb = "skip"
)

// State is what a page shows of a session. Values by picture are in the order of the inputs' rows.
type State struct {
	// Groups holds the group of each picture, Names the name of each group or "", and Confidence how
	// surely each picture is in its group, in percent.
	Groups     []int    `json:"groups"`
	Names      []string `json:"names"`
	Confidence []int    `json:"confidence"`
	// Told are the labelled pictures, and Must and Cannot the linked pairs.
	Told   []int    `json:"told"`
	Must   [][2]int `json:"must"`
	Cannot [][2]int `json:"cannot"`
	// Questions are pairs of pictures to ask about, the most useful first.
	Questions []Question `json:"questions"`
	Model     string     `json:"model"` // that of Options: with another one groups have other numbers
	// Acts is the number of acts in force. Undo and Redo describe the acts that can be undone and redone,
	// "" without any.
	Acts int    `json:"acts"`
	Undo string `json:"undo"`
	Redo string `json:"redo"`
	Said string `json:"said"` // describes the effect of the last call in a sentence or two
}

// Question asks whether two pictures belong together. A is unsure of its group, and B is typical of that
// group.
type Question struct {
	A int `json:"a"`
	B int `json:"b"`
}

// MistakeError is an act that is impossible, in words for the person. It changed nothing.
type MistakeError struct{ Err error }

func (e *MistakeError) Error() string { return e.Err.Error() }
func (e *MistakeError) Unwrap() error { return e.Err }

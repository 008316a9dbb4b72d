package factor

import "github.com/seed4492f2cd/partwise/internal/links"

// Known is what is known about the n samples beside their features: Labels, each
// sample's class, numbered from 0, or -1 where it is not known, and MustLink and
// CannotLink, pairs of samples, by row, that belong together and that do not. Its zero
// value says that nothing is known.
type Known = links.Known

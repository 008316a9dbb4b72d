// Package memory keeps the memory of a process within one budget.
//
// Work that takes much memory reserves it before it begins. It waits for its share of the [Budget], or
// is refused if the budget could never hold it. The budget is in the context, so that all work at once
// shares one. Only large objects are counted: images, matrices, factors. An eighth of the limit and a
// fixed amount are set aside for all else.
package memory

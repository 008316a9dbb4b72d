// Package memory keeps what a process holds in memory within one budget.
//
// Work that takes much memory says how much before it begins. It then waits for
// its share of the [Budget], or is refused where the budget could never hold it.
// The budget travels in the context, so that all that runs at once shares one.
// What is counted is the large: images, matrices, factors. An eighth of the limit
// and a fixed amount are set aside for all else.
package memory

//go:build race

package factor

// raceDetector tells whether tests run under it, ten times as slow.
const raceDetector = true

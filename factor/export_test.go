package factor

import "slices"

// Unregister takes a method that a test registered from the registry.
func Unregister(name string) {
	registry = slices.DeleteFunc(registry, func(i Info) bool { return i.Name == name })
}

package memory

import (
	"math"
	"os"
	"path"
	"path/filepath"
	"strconv"
	"strings"
)

func installed() int64 { return linuxMemory("/") }

// linuxMemory returns the memory that the files of the kernel below root tell
// of: the least of the machine's and of the limits of the control group of the
// process and of the groups around it, in both versions of these. It is 0 where
// no file tells.
func linuxMemory(root string) int64 {
	least := int64(math.MaxInt64)
	read := func(name string) string {
		text, err := os.ReadFile(filepath.Join(root, filepath.FromSlash(name)))
		if err != nil {
			return ""
		}
		return string(text)
	}
	for line := range strings.Lines(read("proc/meminfo")) {
		// As in "MemTotal:       16384000 kB".
		if f := strings.Fields(line); len(f) == 3 && f[0] == "MemTotal:" {
			if kib, err := strconv.ParseInt(f[1], 10, 44); err == nil && kib > 0 {
				least = kib << 10
			}
		}
	}
	limit := func(name string) {
		if n, err := strconv.ParseInt(strings.TrimSpace(read(name)), 10, 64); err == nil && n > 0 {
			least = min(least, n)
		}
	}
	for line := range strings.Lines(read("proc/self/cgroup")) {
		// As in "0::/a/group" in version 2 and "4:memory:/a/group" in version 1.
		id, rest, _ := strings.Cut(strings.TrimSpace(line), ":")
		controllers, group, ok := strings.Cut(rest, ":")
		if !ok {
			continue
		}
		folder, file := "sys/fs/cgroup/memory", "memory.limit_in_bytes"
		if id == "0" && controllers == "" {
			folder, file = "sys/fs/cgroup", "memory.max"
		} else if !strings.Contains(","+controllers+",", ",memory,") {
			continue
		}
		for group = path.Clean("/" + group); ; group = path.Dir(group) {
			limit(folder + group + "/" + file)
			if group == "/" {
				break
			}
		}
	}
	if least == math.MaxInt64 {
		return 0
	}
	return least
}

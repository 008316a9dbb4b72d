package memory

import (
	"os"
	"path/filepath"
	"testing"
)

func TestLinuxMemory(t *testing.T) {
	const gib = 1 << 30
	meminfo := "MemTotal:       16777216 kB\nMemFree:        12 kB\n"
	for _, test := range []struct {
		name  string
		files map[string]string
		want  int64
	}{
		{"nothing told", nil, 0},
		{"no group", map[string]string{"proc/meminfo": meminfo}, 16 * gib},
		{"no limit", map[string]string{"proc/meminfo": meminfo, "proc/self/cgroup": "0::/\n", "sys/fs/cgroup/memory.max": "max\n"}, 16 * gib},
		{"version 2", map[string]string{"proc/meminfo": meminfo, "proc/self/cgroup": "0::/a/b\n", "sys/fs/cgroup/a/b/memory.max": "1073741824\n"}, gib},
		{"version 2, around it", map[string]string{"proc/meminfo": meminfo, "proc/self/cgroup": "0::/a/b\n",
			"sys/fs/cgroup/a/b/memory.max": "max\n", "sys/fs/cgroup/a/memory.max": "2147483648\n"}, 2 * gib},
		{"version 2, within a container", map[string]string{"proc/meminfo": meminfo, "proc/self/cgroup": "0::/../../elsewhere\n",
			"sys/fs/cgroup/memory.max": "1073741824\n"}, gib},
		{"version 1", map[string]string{"proc/meminfo": meminfo, "proc/self/cgroup": "7:cpu,memory:/a\n3:pids:/a\n",
			"sys/fs/cgroup/memory/a/memory.limit_in_bytes": "1073741824\n"}, gib},
		{"version 1 without a limit", map[string]string{"proc/meminfo": meminfo, "proc/self/cgroup": "7:memory:/a\n",
			"sys/fs/cgroup/memory/a/memory.limit_in_bytes": "9223372036854771712\n"}, 16 * gib},
		{"above the machine's", map[string]string{"proc/meminfo": meminfo, "proc/self/cgroup": "0::/\n", "sys/fs/cgroup/memory.max": "99999999999\n"}, 16 * gib},
		{"nonsense", map[string]string{"proc/meminfo": "MemTotal: much kB\nMemTotal:", "proc/self/cgroup": "0\n:\nx::/\n"}, 0},
	} {
		root := t.TempDir()
		for name, text := range test.files {
			path := filepath.Join(root, name)
			if err := os.MkdirAll(filepath.Dir(path), 0o777); err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(path, []byte(text), 0o666); err != nil {
				t.Fatal(err)
			}
		}
		if got := linuxMemory(root); got != test.want {
			t.Errorf("%s: %d, want %d", test.name, got, test.want)
		}
	}
}

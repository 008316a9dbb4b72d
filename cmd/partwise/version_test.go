package main

import (
	"runtime"
	"runtime/debug"
	"strings"
	"testing"

)

func TestDescribeVersion(t *testing.T) {
	const revision = "0123456789abcdef0123456789abcdef01234567"
	of := func(version string, settings ...string) *debug.BuildInfo {
		info := &debug.BuildInfo{Main: debug.Module{Version: version}}
		for i := 0; i < len(settings); i += 2 {
			info.Settings = append(info.Settings, debug.BuildSetting{Key: settings[i], Value: settings[i+1]})
		}
		return info
	}
	for _, test := range []struct {
		name string
		info *debug.BuildInfo
		want []string
		not  string
	}{
		{"release", of("v1.2.3", "vcs.revision", revision, "vcs.time", "2026-01-02T03:04:05Z", "vcs.modified", "false"),
			[]string{"partwise v1.2.3\n", revision + " of 2026-01-02T03:04:05Z\n", "portable\n", runtime.Version(), runtime.GOOS + "/" + runtime.GOARCH, "used by the inner loops"}, "uncommitted"},
		{"changed", of("v1.2.3+dirty", "vcs.revision", revision, "vcs.modified", "true"), []string{"partwise v1.2.3+dirty\n", revision + ", with uncommitted changes\n"}, " of "},
		{"opencv", of("v1.2.3", "-tags", "opencv,customenv"), []string{"with OpenCV\n"}, "portable"},
		{"another tag", of("v1.2.3", "-tags", "noopencv"), []string{"portable\n"}, "OpenCV"},
		{"no checkout", of("(devel)"), []string{"partwise unversioned\n"}, "devel"},
		{"nothing known", of(""), []string{"partwise unversioned\n"}, "revision"},
	} {
		got := describeVersion(test.info)
		for _, want := range test.want {
			if !strings.Contains(got, want) {
				t.Errorf("%s: %q is not in\n%s", test.name, want, got)
			}
		}
		if strings.Contains(got, test.not) {
			t.Errorf("%s: %q is in\n%s", test.name, test.not, got)
		}
	}

	t.Cleanup(func() { version = "" })
	version = "v3.0.0"
	if got := describeVersion(of("(devel)")); !strings.HasPrefix(got, "partwise v3.0.0\n") {
		t.Errorf("a version set by the build: got\n%s", got)
	}
}

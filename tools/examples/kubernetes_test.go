// Package examples checks the files in the folder examples against the programs that read them.
package examples

import (
	"os"
	"strings"
	"testing"

	batch "k8s.io/api/batch/v1"
	core "k8s.io/api/core/v1"
	"sigs.k8s.io/yaml"
)

// TestKubernetes: the API of Kubernetes knows every key of the example, and the job has an index for each shard.
func TestKubernetes(t *testing.T) {
	read := func(name string, to any) {
		t.Helper()
		text, err := os.ReadFile("../../examples/kubernetes/" + name)
		if err != nil {
			t.Fatal(err)
		}
		filled := strings.NewReplacer("NAME", "features", "COUNT", "3", "ARGS", `"features", "photos"`).Replace(string(text))
		if err := yaml.UnmarshalStrict([]byte(filled), to); err != nil {
			t.Fatalf("%s: %v", name, err)
		}
	}
	var volume core.PersistentVolumeClaim
	read("volume.yaml", &volume)
	var job batch.Job
	read("job.yaml", &job)
	pod := job.Spec.Template.Spec
	switch {
	case job.Name != "partwise-features" || *job.Spec.Completions != 3 || *job.Spec.CompletionMode != batch.IndexedCompletion:
		t.Errorf("job %+v", job.Spec)
	case pod.RestartPolicy != core.RestartPolicyNever || *job.Spec.BackoffLimitPerIndex < 1:
		t.Error("backoffLimitPerIndex needs pods that never restart")
	case len(pod.Containers) != 1 || len(pod.Containers[0].Args) != 2 || pod.Containers[0].VolumeMounts[0].Name != pod.Volumes[0].Name:
		t.Errorf("containers %+v, volumes %+v", pod.Containers, pod.Volumes)
	case pod.Volumes[0].PersistentVolumeClaim.ClaimName != volume.Name || volume.Spec.AccessModes[0] != core.ReadWriteMany:
		t.Errorf("volumes %+v of claim %+v", pod.Volumes, volume)
	}
}

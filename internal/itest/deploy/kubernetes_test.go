package deploy

import (
	"bytes"
	"errors"
	"io"
	"maps"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/goccy/go-yaml"
)

// object is what the tests read of any of the manifests. Specs are decoded by kind, strictly: a key that is not in the types
// below is a mistake, or has to be added to them.
type object struct {
	APIVersion string            `yaml:"apiVersion"`
	Kind       string            `yaml:"kind"`
	Metadata   map[string]string `yaml:"metadata"`
	Data       map[string]string `yaml:"data"`
	Spec       any               `yaml:"spec"`
}

type selector struct {
	MatchLabels map[string]string `yaml:"matchLabels"`
}

type budget struct {
	MaxUnavailable int      `yaml:"maxUnavailable"`
	Selector       selector `yaml:"selector"`
}

type scaled struct {
	ScaleTargetRef  struct{ Name string } `yaml:"scaleTargetRef"`
	MinReplicaCount int                   `yaml:"minReplicaCount"`
	MaxReplicaCount int                   `yaml:"maxReplicaCount"`
	CooldownPeriod  int                   `yaml:"cooldownPeriod"`
	Advanced        struct {
		HorizontalPodAutoscalerConfig struct {
			Behavior any `yaml:"behavior"`
		} `yaml:"horizontalPodAutoscalerConfig"`
	} `yaml:"advanced"`
	Triggers []struct {
		Type              string                `yaml:"type"`
		Metadata          map[string]string     `yaml:"metadata"`
		AuthenticationRef struct{ Name string } `yaml:"authenticationRef"`
	} `yaml:"triggers"`
}

type secretRefs struct {
	SecretTargetRef []struct {
		Parameter string `yaml:"parameter"`
		Name      string `yaml:"name"`
		Key       string `yaml:"key"`
	} `yaml:"secretTargetRef"`
}

// spec decodes the spec of an object.
func spec[T any](t *testing.T, o object, strict bool) (out T) {
	t.Helper()
	text, err := yaml.Marshal(o.Spec)
	if err != nil {
		t.Fatal(err)
	}
	var opts []yaml.DecodeOption
	if strict {
		opts = append(opts, yaml.Strict())
	}
	if err := yaml.UnmarshalWithOptions(text, &out, opts...); err != nil {
		t.Fatalf("%s: %v", o.Kind, err)
	}
	return out
}

// TestKubernetes checks that the manifests fit each other and the pipeline in them.
func TestKubernetes(t *testing.T) {
	text, err := os.ReadFile(filepath.Join(root, "docs", "deploy", "kubernetes.yaml"))
	if err != nil {
		t.Fatal(err)
	}
	versions := map[string]string{
		"ConfigMap": "v1", "Deployment": "apps/v1", "PodDisruptionBudget": "policy/v1",
		"ScaledObject": "keda.sh/v1alpha1", "TriggerAuthentication": "keda.sh/v1alpha1",
	}
	objects := map[string]object{}
	for d := yaml.NewDecoder(bytes.NewReader(text), yaml.Strict()); ; {
		var o object
		if err := d.Decode(&o); errors.Is(err, io.EOF) {
			break
		} else if err != nil {
			t.Fatal(err)
		}
		if versions[o.Kind] != o.APIVersion || o.Metadata["name"] == "" {
			t.Errorf("%+v", o)
		}
		objects[o.Kind] = o
	}
	if len(objects) != len(versions) {
		t.Fatalf("%d objects", len(objects))
	}
	deployment := spec[struct {
		Replicas *int
		Selector selector
		Template struct {
			Metadata struct{ Labels map[string]string }
			Spec     struct {
				TerminationGracePeriodSeconds int `yaml:"terminationGracePeriodSeconds"`
			}
		}
	}](t, objects["Deployment"], false)
	labels := deployment.Template.Metadata.Labels
	b := spec[budget](t, objects["PodDisruptionBudget"], true)
	if deployment.Replicas != nil || b.MaxUnavailable < 1 || !maps.Equal(b.Selector.MatchLabels, labels) || !maps.Equal(deployment.Selector.MatchLabels, labels) {
		t.Errorf("deployment %+v, budget %+v", deployment, b)
	}
	var pipeline struct {
		Source struct {
			Kafka struct {
				Brokers, Topics []string
				Group           string
			}
		}
		Pipeline struct {
			DrainTimeout time.Duration `yaml:"drain_timeout"`
		}
	}
	if err := yaml.Unmarshal([]byte(objects["ConfigMap"].Data["pipeline.yaml"]), &pipeline); err != nil {
		t.Fatal(err)
	}
	drain := max(pipeline.Pipeline.DrainTimeout, 20*time.Second) // at least the default
	if grace := time.Duration(deployment.Template.Spec.TerminationGracePeriodSeconds) * time.Second; grace <= drain {
		t.Errorf("%s to stop, and %s to drain", grace, drain)
	}
	s := spec[scaled](t, objects["ScaledObject"], true)
	k := pipeline.Source.Kafka
	m := s.Triggers[0].Metadata
	if s.ScaleTargetRef.Name != objects["Deployment"].Metadata["name"] || s.MinReplicaCount < 2 || s.MaxReplicaCount < s.MinReplicaCount ||
		s.Triggers[0].Type != "kafka" || m["bootstrapServers"] != strings.Join(k.Brokers, ",") || m["consumerGroup"] != k.Group || m["topic"] != k.Topics[0] {
		t.Errorf("%+v does not fit %+v", s, k)
	}
	refs := spec[secretRefs](t, objects["TriggerAuthentication"], true).SecretTargetRef
	if len(refs) != 2 || refs[0].Name != "urlmill" || refs[1].Key != "kafka-password" {
		t.Errorf("%+v", refs)
	}
}

package kubernetes

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	_ "github.com/kedacore/keda/v2/version" // for its version in go.mod: its definitions are read from the module's files
	"k8s.io/apiextensions-apiserver/pkg/apis/apiextensions"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	structural "k8s.io/apiextensions-apiserver/pkg/apiserver/schema"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/schema/cel"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/schema/pruning"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/validation"
	"k8s.io/apimachinery/pkg/runtime/schema"
	celconfig "k8s.io/apiserver/pkg/apis/cel"
	sigsjson "sigs.k8s.io/json"
	"sigs.k8s.io/yaml"
)

// definitions are those of KEDA: its custom resources, and the parameters of its scaler for Kafka.
type definitions struct {
	resources map[schema.GroupVersionKind]*apiextensions.JSONSchemaProps
	kafka     map[string]parameter
}

// parameter is one of a scaler, as KEDA describes it.
type parameter struct {
	Name     string
	Optional bool
	Default  string
	Allowed  []string `json:"allowedValue"`
	Trigger  bool     `json:"metadataVariableReadable"`              // may be in the trigger itself
	Login    bool     `json:"triggerAuthenticationVariableReadable"` // may be in a TriggerAuthentication
}

// keda reads the definitions from the module in go.mod.
func keda(t *testing.T) definitions {
	t.Helper()
	dir, err := exec.CommandContext(t.Context(), "go", "list", "-m", "-f", "{{.Dir}}", "github.com/kedacore/keda/v2").Output()
	if err != nil {
		t.Fatalf("go list -m: %v", err)
	}
	module := strings.TrimSpace(string(dir))
	d := definitions{map[schema.GroupVersionKind]*apiextensions.JSONSchemaProps{}, map[string]parameter{}}
	for _, name := range []string{"scaledobjects", "triggerauthentications"} {
		var crd apiextensionsv1.CustomResourceDefinition
		if err := yaml.UnmarshalStrict(read(t, filepath.Join(module, "config", "crd", "bases", "keda.sh_"+name+".yaml")), &crd); err != nil {
			t.Fatal(err)
		}
		for _, v := range crd.Spec.Versions {
			var props apiextensions.JSONSchemaProps
			if err := apiextensionsv1.Convert_v1_JSONSchemaProps_To_apiextensions_JSONSchemaProps(v.Schema.OpenAPIV3Schema, &props, nil); err != nil {
				t.Fatal(err)
			}
			d.resources[schema.GroupVersionKind{Group: crd.Spec.Group, Version: v.Name, Kind: crd.Spec.Names.Kind}] = &props
		}
	}
	var scalers struct {
		Scalers []struct {
			Type       string
			Parameters []parameter
		}
	}
	if err := json.Unmarshal(read(t, filepath.Join(module, "schema", "generated", "scalers-schema.json")), &scalers); err != nil {
		t.Fatal(err)
	}
	for _, s := range scalers.Scalers {
		if s.Type == "kafka" {
			for _, p := range s.Parameters {
				d.kafka[p.Name] = p
			}
		}
	}
	if len(d.kafka) == 0 {
		t.Fatal("KEDA describes no scaler for Kafka")
	}
	return d
}

// check judges a custom resource as the API server does with its definition: unknown fields, the schema, its rules. Triggers and
// logins are judged by what the scaler reads.
func (d definitions) check(document string, kind schema.GroupVersionKind) error {
	props, ok := d.resources[kind]
	if !ok {
		return fmt.Errorf("%s is not defined", kind)
	}
	text, err := yaml.YAMLToJSONStrict([]byte(document))
	if err != nil {
		return err
	}
	var o map[string]any
	if err := sigsjson.UnmarshalCaseSensitivePreserveInts(text, &o); err != nil {
		return err
	}
	validator, _, err := validation.NewSchemaValidator(props)
	if err != nil {
		return err
	}
	s, err := structural.NewStructural(props)
	if err != nil {
		return err
	}
	errs := validation.ValidateCustomResource(nil, o, validator)
	ruled, _ := cel.NewValidator(s, true, celconfig.PerCallLimit).Validate(context.Background(), nil, s, o, nil, celconfig.RuntimeCELCostBudget)
	if errs = append(errs, ruled...); len(errs) > 0 {
		return fmt.Errorf("%s: %w", kind.Kind, errs.ToAggregate())
	}
	if unknown := pruning.PruneWithOptions(o, s, true, structural.UnknownFieldPathOptions{TrackUnknownFieldPaths: true}); len(unknown) > 0 {
		return fmt.Errorf("%s: unknown fields %q", kind.Kind, unknown)
	}
	if kind.Kind == "ScaledObject" {
		return errors.Join(d.checkTriggers(text), d.checkBehavior(text))
	}
	return d.checkLogin(text)
}

// triggers are what the tests read of a ScaledObject.
type triggers struct {
	Spec struct {
		ScaleTargetRef                   struct{ Kind, Name string }
		MinReplicaCount, MaxReplicaCount int32
		Advanced                         struct {
			HorizontalPodAutoscalerConfig struct{ Behavior any }
		}
		Triggers []struct {
			Type              string
			Metadata          map[string]string
			AuthenticationRef struct{ Name string }
		}
	}
}

// logins are what the tests read of a TriggerAuthentication.
type logins struct {
	Metadata struct{ Name string }
	Spec     struct {
		SecretTargetRef []struct{ Parameter, Name, Key string }
	}
}

func (d definitions) checkTriggers(text []byte) error {
	var o triggers
	if err := json.Unmarshal(text, &o); err != nil {
		return err
	}
	var errs []error
	for _, trigger := range o.Spec.Triggers {
		if trigger.Type != "kafka" {
			errs = append(errs, fmt.Errorf("a trigger of type %q", trigger.Type))
		}
		for name, value := range trigger.Metadata {
			switch p, ok := d.kafka[name]; {
			case !ok || !p.Trigger:
				errs = append(errs, fmt.Errorf("the trigger has %q, which the scaler does not read there", name))
			case len(p.Allowed) > 0 && !slices.Contains(p.Allowed, value):
				errs = append(errs, fmt.Errorf("%s: %q is none of %q", name, value, p.Allowed))
			}
		}
		for name, p := range d.kafka {
			if _, ok := trigger.Metadata[name]; !ok && !p.Optional && p.Default == "" {
				errs = append(errs, fmt.Errorf("the trigger has no %s", name))
			}
		}
	}
	return errors.Join(errs...)
}

// checkBehavior has the autoscaler judged that KEDA makes of a ScaledObject: its definition takes any policy.
func (d definitions) checkBehavior(text []byte) error {
	var o triggers
	if err := json.Unmarshal(text, &o); err != nil {
		return err
	}
	name := map[string]any{"name": "made"}
	hpa, err := json.Marshal(map[string]any{
		"apiVersion": "autoscaling/v2", "kind": "HorizontalPodAutoscaler", "metadata": name,
		"spec": map[string]any{
			"scaleTargetRef": map[string]any{"apiVersion": "apps/v1", "kind": "Deployment", "name": o.Spec.ScaleTargetRef.Name},
			"minReplicas":    max(1, o.Spec.MinReplicaCount), "maxReplicas": o.Spec.MaxReplicaCount, // KEDA itself starts the first
			"behavior": o.Spec.Advanced.HorizontalPodAutoscalerConfig.Behavior,
			"metrics": []any{map[string]any{"type": "External", "external": map[string]any{
				"metric": name, "target": map[string]any{"type": "AverageValue", "averageValue": o.Spec.Triggers[0].Metadata["lagThreshold"]},
			}}},
		},
	})
	if err != nil {
		return err
	}
	return check(string(hpa), d)
}

func (d definitions) checkLogin(text []byte) error {
	var o logins
	if err := json.Unmarshal(text, &o); err != nil {
		return err
	}
	for _, ref := range o.Spec.SecretTargetRef {
		if !d.kafka[ref.Parameter].Login {
			return fmt.Errorf("the scaler takes no %q for a login", ref.Parameter)
		}
	}
	return nil
}

package kubernetes

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	autoscalingv2 "k8s.io/api/autoscaling/v2"
	corev1 "k8s.io/api/core/v1"
	networkingv1 "k8s.io/api/networking/v1"
	policyv1 "k8s.io/api/policy/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/yaml"
)

// set is what a rendering holds, by kind.
type set struct {
	config     corev1.ConfigMap
	account    *corev1.ServiceAccount
	deployment appsv1.Deployment // or of a StatefulSet what is the same there
	budget     *policyv1.PodDisruptionBudget
	network    *networkingv1.NetworkPolicy
	autoscaler *autoscalingv2.HorizontalPodAutoscaler
	scaled     *triggers
	login      *logins
	pipeline   pipeline
}

// pipeline is what the tests read of urlmill's configuration.
type pipeline struct {
	Source struct {
		Kafka struct {
			Brokers, Topics []string
			Group, Start    string
			Instance        string `json:"instance_id"`
			Session         string `json:"session_timeout"`
			TLS             *struct{ Enabled bool }
			SASL            *struct{ Mechanism, Username, Password string }
		}
	}
	Sink struct {
		Roll struct{ Every string }
	}
	Pipeline struct {
		DrainTimeout string `json:"drain_timeout"`
	}
}

// gather takes the documents of a rendering.
func gather(documents []string) (*set, error) {
	s := &set{}
	for _, d := range documents {
		var head metav1.TypeMeta
		if err := yaml.Unmarshal([]byte(d), &head); err != nil {
			return nil, err
		}
		into, ok := map[string]any{
			"ConfigMap": &s.config, "ServiceAccount": &s.account, "Deployment": &s.deployment, "StatefulSet": &s.deployment, "PodDisruptionBudget": &s.budget,
			"NetworkPolicy":           &s.network,
			"HorizontalPodAutoscaler": &s.autoscaler, "ScaledObject": &s.scaled, "TriggerAuthentication": &s.login,
		}[head.Kind]
		if !ok {
			continue
		}
		if err := yaml.Unmarshal([]byte(d), into); err != nil {
			return nil, err
		}
	}
	return s, yaml.Unmarshal([]byte(s.config.Data["pipeline.yaml"]), &s.pipeline)
}

// fits checks what the documents say of each other.
func (s *set) fits() error {
	return errors.Join(s.labels(), s.names(), s.ending(), s.files(), s.scaling(), s.reach())
}

// labels checks that selectors take the pods, and that nothing but an autoscaler says how many there are.
func (s *set) labels() error {
	pod := s.deployment.Spec.Template
	var errs []error
	takes := map[string]*metav1.LabelSelector{"deployment": s.deployment.Spec.Selector}
	if s.budget != nil {
		takes["budget"] = s.budget.Spec.Selector
	}
	if s.network != nil {
		takes["network policy"] = &s.network.Spec.PodSelector
	}
	for i := range pod.Spec.TopologySpreadConstraints {
		takes[fmt.Sprint("spread ", i)] = pod.Spec.TopologySpreadConstraints[i].LabelSelector
	}
	for who, selector := range takes {
		for k, v := range selector.MatchLabels {
			if pod.Labels[k] != v {
				errs = append(errs, fmt.Errorf("%s: the pods have no label %s=%s", who, k, v))
			}
		}
	}
	if scaled := s.scaled != nil || s.autoscaler != nil; scaled != (s.deployment.Spec.Replicas == nil) {
		errs = append(errs, fmt.Errorf("replicas %v, with an autoscaler: %t", s.deployment.Spec.Replicas, scaled))
	}
	if s.account != nil && s.account.Name != pod.Spec.ServiceAccountName {
		errs = append(errs, fmt.Errorf("account %s, pods of %s", s.account.Name, pod.Spec.ServiceAccountName))
	}
	return errors.Join(errs...)
}

// names checks that pods have an instance_id if and only if they keep their names, and a time to come back in.
func (s *set) names() error {
	pod, k := s.deployment.Spec.Template.Spec, s.pipeline.Source.Kafka
	named := slices.ContainsFunc(pod.Containers[0].Env, func(e corev1.EnvVar) bool {
		return e.ValueFrom != nil && e.ValueFrom.FieldRef != nil && e.ValueFrom.FieldRef.FieldPath == "metadata.name" && k.Instance == "${"+e.Name+"}"
	})
	hash := map[bool]string{false: "pod-template-hash", true: "controller-revision-hash"}[named]
	if keeps := s.deployment.Kind == "StatefulSet"; keeps != named || keeps != (k.Instance != "") || keeps != (k.Session != "") ||
		pod.TopologySpreadConstraints[0].MatchLabelKeys[0] != hash {
		return fmt.Errorf("%s: instance_id %q, session_timeout %q, pods spread by %v", s.deployment.Kind, k.Instance, k.Session, pod.TopologySpreadConstraints)
	}
	return nil
}

// ending checks that a pod has longer to end than the pipeline to drain.
func (s *set) ending() error {
	drain := 20 * time.Second // the default
	if text := s.pipeline.Pipeline.DrainTimeout; text != "" {
		var err error
		if drain, err = time.ParseDuration(text); err != nil {
			return err
		}
	}
	grace := s.deployment.Spec.Template.Spec.TerminationGracePeriodSeconds
	if grace == nil || time.Duration(*grace)*time.Second < drain+20*time.Second {
		return fmt.Errorf("%d s to end, and %s to drain", grace, drain)
	}
	return nil
}

// files checks that the pods have the files and variables that their configuration names, and what the probes ask.
func (s *set) files() error {
	pod := s.deployment.Spec.Template.Spec
	c := pod.Containers[0]
	var errs []error
	mounted := map[string]string{}
	for _, m := range c.VolumeMounts {
		mounted[m.Name] = m.MountPath
	}
	i := slices.IndexFunc(pod.Volumes, func(v corev1.Volume) bool { return v.ConfigMap != nil })
	if i < 0 || pod.Volumes[i].ConfigMap.Name != s.config.Name || c.Args[1] != filepath.Join(mounted[pod.Volumes[i].Name], "pipeline.yaml") {
		errs = append(errs, fmt.Errorf("%v does not run pipeline.yaml of %s", c.Args, s.config.Name))
	}
	text := s.config.Data["pipeline.yaml"]
	if listens := strings.Contains(text, "URLMILL_ADMIN_TOKEN"); listens != (c.ReadinessProbe != nil) || listens != (len(c.Ports) > 0) {
		errs = append(errs, fmt.Errorf("a listener: %t, a probe: %v", listens, c.ReadinessProbe))
	} else if listens && !strings.Contains(text, fmt.Sprintf("listen: :%d\n", c.Ports[0].ContainerPort)) {
		errs = append(errs, fmt.Errorf("nothing listens at port %d:\n%s", c.Ports[0].ContainerPort, text))
	}
	for _, probe := range []*corev1.Probe{c.StartupProbe, c.LivenessProbe, c.ReadinessProbe} {
		if probe != nil && (probe.HTTPGet.Port.StrVal != c.Ports[0].Name || probe.HTTPGet.Scheme != corev1.URISchemeHTTPS) {
			errs = append(errs, fmt.Errorf("a probe of %s", probe.HTTPGet))
		}
	}
	for name := range variables(c) {
		if strings.HasPrefix(name, "KAFKA_") && s.pipeline.Source.Kafka.SASL != nil && !strings.Contains(text, "${"+name+"}") {
			errs = append(errs, fmt.Errorf("nothing in the configuration asks for %s", name))
		}
	}
	return errors.Join(errs...)
}

// variables are what a container has of Secrets.
func variables(c corev1.Container) map[string]corev1.SecretKeySelector {
	out := map[string]corev1.SecretKeySelector{}
	for _, e := range c.Env {
		if e.ValueFrom != nil && e.ValueFrom.SecretKeyRef != nil {
			out[e.Name] = *e.ValueFrom.SecretKeyRef
		}
	}
	return out
}

// scaling checks that autoscalers scale the deployment, and look at what the pipeline reads, as who it reads.
func (s *set) scaling() error {
	if a := s.autoscaler; a != nil && (a.Spec.ScaleTargetRef.Name != s.deployment.Name || a.Spec.ScaleTargetRef.Kind != s.deployment.Kind || a.Spec.Metrics[0].Pods.Metric.Name != "urlmill_lag_total_records") {
		return fmt.Errorf("%+v", a.Spec)
	}
	if s.scaled == nil {
		return nil
	}
	o, k := s.scaled.Spec, s.pipeline.Source.Kafka
	want := map[string]string{
		"bootstrapServers": strings.Join(k.Brokers, ","), "consumerGroup": k.Group, "offsetResetPolicy": "earliest",
		"lagThreshold": o.Triggers[0].Metadata["lagThreshold"],
	}
	if len(k.Topics) == 1 {
		want["topic"], want["ensureEvenDistributionOfPartitions"] = k.Topics[0], "true"
	}
	if k.Start == "latest" {
		want["offsetResetPolicy"] = "latest"
	}
	if k.TLS != nil && k.TLS.Enabled {
		want["tls"] = "enable"
	}
	if k.SASL != nil {
		want["sasl"] = map[string]string{"plain": "plaintext", "scram-sha-512": "scram_sha512", "oauthbearer": "oauthbearer"}[k.SASL.Mechanism]
	}
	trigger := o.Triggers[0]
	if o.ScaleTargetRef.Name != s.deployment.Name || o.ScaleTargetRef.Kind != s.deployment.Kind || !maps.Equal(trigger.Metadata, want) {
		return fmt.Errorf("scales %s by %v, want %s by %v", o.ScaleTargetRef.Name, trigger.Metadata, s.deployment.Name, want)
	}
	if s.login == nil {
		if trigger.AuthenticationRef.Name != "" {
			return fmt.Errorf("there is no %s to log in with", trigger.AuthenticationRef.Name)
		}
		return nil
	}
	if trigger.AuthenticationRef.Name != s.login.Metadata.Name {
		return fmt.Errorf("logs in with %q, not %q", trigger.AuthenticationRef.Name, s.login.Metadata.Name)
	}
	inPod := variables(s.deployment.Spec.Template.Spec.Containers[0])
	for _, ref := range s.login.Spec.SecretTargetRef {
		name, ok := map[string]string{"username": "KAFKA_USER", "password": "KAFKA_PASSWORD"}[ref.Parameter]
		if key := inPod[name]; ok && (key.Name != ref.Name || key.Key != ref.Key) {
			return fmt.Errorf("KEDA takes %s of %s.%s, urlmill of %s.%s", ref.Parameter, ref.Name, ref.Key, key.Name, key.Key)
		}
	}
	return nil
}

// lint has the binary judge the pipeline, with the container's variables, threads, and share of its memory.
func (s *set) lint(t *testing.T, bin string) {
	t.Helper()
	c := s.deployment.Spec.Template.Spec.Containers[0]
	var config map[string]any
	if err := yaml.Unmarshal([]byte(s.config.Data["pipeline.yaml"]), &config); err != nil {
		t.Fatal(err)
	}
	memory := c.Resources.Limits.Memory().Value() * 8 / 10
	config["memory_limit"] = fmt.Sprintf("%dKiB", memory>>10)
	text, err := json.Marshal(config)
	if err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(t.TempDir(), "pipeline.yaml")
	if err := os.WriteFile(file, text, 0o600); err != nil {
		t.Fatal(err)
	}
	cpus := (c.Resources.Requests.Cpu().MilliValue() + 999) / 1000
	env := []string{fmt.Sprintf("GOMAXPROCS=%d", cpus), "URLMILL_POD=urlmill-0"}
	for name := range variables(c) {
		env = append(env, name+"="+token)
	}
	ctx, cancel := context.WithTimeout(t.Context(), 5*time.Minute)
	defer cancel()
	cmd := exec.CommandContext(ctx, bin, "lint", file)
	cmd.Env = env
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Errorf("urlmill lint: %v\n%s\n%s", err, out, text)
	}
}

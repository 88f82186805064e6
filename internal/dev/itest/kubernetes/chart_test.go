package kubernetes

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"helm.sh/helm/v3/pkg/lint"
	"helm.sh/helm/v3/pkg/lint/support"
)

// variants are values over those of clicks.yaml: every branch of the templates is in one.
var variants = map[string]string{
	"clicks": "{}",
	"alone":  "autoscaling: {by: none}\nreplicas: 3\ndisruptionBudget: {enabled: false}",
	"hpa":    "autoscaling: {by: hpa, minReplicas: 1, maxReplicas: 12, recordsPerSecond: 200000, secondsBehind: 120}\ndisruptionBudget: {maxUnavailable: 25%}\nnetworkPolicy: {from: [{podSelector: {}}]}",
	"static": "kind: StatefulSet\nautoscaling: {minReplicas: 0, keda: {cooldownPeriod: 600}}",
	"static, hpa": `
kind: StatefulSet
config: {source: {kafka: {session_timeout: 5m}}}
autoscaling: {by: hpa}
networkPolicy: {from: [{podSelector: {}}]}
`,
	"unlisten": "admin: {enabled: false}\nserviceAccount: {create: false}",
	"monitor": `
podMonitor: {enabled: true, labels: {release: prometheus}, caSecret: {name: ca}, serverName: urlmill}
networkPolicy: {from: [{namespaceSelector: {matchLabels: {kubernetes.io/metadata.name: monitoring}}}]}
config: {admin: {stuck_after: 10m, max_lag: 10000000}, pipeline: {drain_timeout: 1m30s, workers: 2}, source: {kafka: {rebalance_timeout: 2m}}}
`,
	"unchecked": "podMonitor: {enabled: true}\nadmin: {port: 9443, tlsSecret: own, tokenKey: token}\nsecret: {name: kafka-login}\nnetworkPolicy: {enabled: false}",
	"topics": `
config: {source: {kafka: {topics: [clicks, views], start: latest, sasl: {mechanism: plain}, max_record_bytes: 32MiB}}}
autoscaling: {keda: {authentication: {ca: ca.crt}}}
`,
	"tokens": `
config: |
  source: {kafka: {brokers: [kafka:9092], topics: [clicks], group: urlmill, sasl: {mechanism: oauthbearer, oauth: {token_url: "https://login.example.com/token", client_id: "${KAFKA_USER}", client_secret: "${KAFKA_PASSWORD}"}}}, codec: {lines: {}}}
  sink: {ndjson: {path: "s3://lake/clicks"}}
autoscaling: {keda: {authentication: {username: kafka-user, password: kafka-password, scopes: scopes, oauthTokenEndpointUri: token-url}}}
`,
	"plain": `
config: |
  source: {kafka: {brokers: [kafka:9092], topics: [clicks], group: urlmill}, codec: {lines: {}}}
  sink: {ndjson: {path: "s3://lake/clicks"}}
autoscaling: {keda: {authentication: null}}
secret: {env: null}
`,
	"folder": `
config: {sink: {parquet: {path: /lake/clicks}}}
volumes: [{name: lake, persistentVolumeClaim: {claimName: lake}}]
volumeMounts: [{name: lake, mountPath: /lake}]
fsGroup: 65532
`,
	"table": `
config: {sink: {parquet: {iceberg: {table: web.clicks, rest: {uri: "https://catalog.example.com", token: "${CATALOG_TOKEN}"}}}}}
secret: {env: {CATALOG_TOKEN: catalog-token}}
`,
	"placed": `
image: {repository: registry.example.com/urlmill, tag: 1.2.3, pullPolicy: Always}
imagePullSecrets: [{name: registry}]
nodeSelector: {kubernetes.io/arch: arm64}
tolerations: [{key: spot, operator: Exists, effect: NoSchedule}]
affinity: {nodeAffinity: {requiredDuringSchedulingIgnoredDuringExecution: {nodeSelectorTerms: [{matchExpressions: [{key: pool, operator: In, values: [batch]}]}]}}}
topologyKeys: [kubernetes.io/hostname]
priorityClassName: batch
podLabels: {team: lake}
podAnnotations: {example.com/owner: lake}
serviceAccount: {name: lake, annotations: {eks.amazonaws.com/role-arn: "arn:aws:iam::123456789012:role/lake"}}
env: [{name: AWS_REGION, value: eu-central-1}]
resources: {requests: {cpu: 1500m, memory: 2Gi}, limits: {cpu: "2", memory: 2Gi}}
`,
}

// TestChart renders every variant, and has every document judged, and what they say of each other.
func TestChart(t *testing.T) {
	defined, bin := keda(t), binary(t)
	for name, text := range variants {
		t.Run(name, func(t *testing.T) {
			documents := mustRender(t, clicksWith(t, text))
			for _, d := range documents {
				if err := check(d, defined); err != nil {
					t.Errorf("%v\n%s", err, d)
				}
			}
			set, err := gather(documents)
			if err != nil {
				t.Fatal(err)
			}
			if err := set.fits(); err != nil {
				t.Error(err)
			}
			set.lint(t, bin)
		})
	}
}

// TestText checks that the text of a pipeline is as good as its keys, and that large numbers stay what they are.
func TestText(t *testing.T) {
	config := `source:
  kafka: {brokers: [kafka:9092], topics: [clicks], group: urlmill}
  codec: {ndjson: {url: /url}}
sink: {parquet: {path: "s3://lake/clicks"}, roll: {rows: 1000000000}}
`
	text := mustRender(t, values{"config": config})
	keys := mustRender(t, values{"config": valuesOf(t, []byte(config))})
	if a, b := strings.Join(text, ""), strings.Join(keys, ""); a != b {
		t.Errorf("from a text:\n%s\nfrom keys:\n%s", a, b)
	}
	if !strings.Contains(strings.Join(text, ""), "rows: 1000000000\n") {
		t.Errorf("%s", text)
	}
}

// TestManifests checks that kubernetes.yaml is what the chart makes of clicks.yaml; UPDATE_KUBERNETES=1 writes it anew.
func TestManifests(t *testing.T) {
	head, _, _ := strings.Cut(string(read(t, manifests)), "\n---\n")
	want := head
	for _, d := range mustRender(t, clicksWith(t, "{}")) {
		want += "\n---\n" + strings.TrimSuffix(d, "\n")
	}
	want += "\n"
	if os.Getenv("UPDATE_KUBERNETES") == "1" {
		if err := os.WriteFile(manifests, []byte(want), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	if got := string(read(t, manifests)); got != want {
		t.Errorf("%s is not what the chart makes (make kubernetes-docs makes it anew):\n%s", manifests, want)
	}
}

// TestPlanted plants mistakes in the manifests, each of which has to be found.
func TestPlanted(t *testing.T) {
	defined := keda(t)
	for name, c := range map[string]struct{ old, new, want string }{
		"unknown field":         {"readOnlyRootFilesystem: true", "readOnlyRootFileSystem: true", "unknown field"},
		"unknown, deep":         {"periodSeconds: 2\n", "periodSecond: 2\n", "unknown field"},
		"unknown, budget":       {"maxUnavailable: 1\n  un", "maxUnavailble: 1\n  un", "unknown field"},
		"repeated":              {"minReplicaCount: 2", "minReplicaCount: 2\n  minReplicaCount: 3", "minReplicaCount"},
		"type":                  {"terminationGracePeriodSeconds: 60", "terminationGracePeriodSeconds: 60s", "terminationGracePeriodSeconds"},
		"quantity":              {"memory: 1Gi", "memory: 1Gb", "quantities"},
		"request over limit":    {"limits:\n              memory: 1Gi", "limits:\n              memory: 1Mi", "must be less than or equal to memory limit"},
		"volume":                {"{name: tls, mountPath", "{name: tsl, mountPath", "volumeMounts[1].name: Not found"},
		"paths":                 {"mountPath: /etc/urlmill/tls", "mountPath: /etc/urlmill/config", "must be unique"},
		"selector":              {"matchLabels:\n      app.kubernetes.io/name: urlmill\n      app.kubernetes.io/instance: urlmill\n  # Every", "matchLabels:\n      app: urlmill\n  # Every", "does not match template `labels`"},
		"port":                  {"containerPort: 8717", "containerPort: 87170", "between 1 and 65535"},
		"variable":              {"resource: requests.cpu", "resource: requests.cpus", "resource: Unsupported value"},
		"API":                   {"apiVersion: policy/v1\n", "apiVersion: policy/v2\n", "policy/v2"},
		"root":                  {"runAsNonRoot: true", "runAsNonRoot: false", "runAsNonRoot"},
		"rights":                {"allowPrivilegeEscalation: false", "allowPrivilegeEscalation: true", "allowPrivilegeEscalation"},
		"seccomp":               {"seccompProfile: {type: RuntimeDefault}", "seccompProfile: {type: Unconfined}", "seccompProfile"},
		"KEDA, field":           {"pollingInterval: 30", "pollInterval: 30", "pollInterval"},
		"KEDA, type":            {`lagThreshold: "6000000"`, "lagThreshold: 6000000", "lagThreshold"},
		"KEDA, rule":            {"maxReplicaCount: 8", "maxReplicaCount: 1", "minReplicaCount must be less"},
		"KEDA, scaler":          {"offsetResetPolicy: earliest", "offsetReset: earliest", "offsetReset"},
		"KEDA, value":           {"sasl: scram_sha512", "sasl: scram-sha-512", "is none of"},
		"KEDA, missing":         {"        consumerGroup: \"urlmill\"\n", "", "consumerGroup"},
		"KEDA, login":           {"parameter: username", "parameter: user", `"user"`},
		"network policy, field": {"podSelector:", "podSelectors:", "unknown field"},
		"network policy, port":  {"- port: 9092", "- port: 90920", "between 1 and 65535"},
		"network policy, type":  {"policyTypes: [Ingress,", "policyTypes: [Inward,", "policyTypes[0]"},
		"behaviour":             {"type: Percent", "type: Percents", "policies[0].type: Unsupported value"},
	} {
		t.Run(name, func(t *testing.T) {
			text := string(read(t, manifests))
			planted := strings.Replace(text, c.old, c.new, 1)
			if planted == text {
				t.Fatalf("there is no %q to plant it in", c.old)
			}
			var found []string
			for _, d := range split([]byte(planted)) {
				if err := check(d, defined); err != nil {
					found = append(found, err.Error())
				}
			}
			if len(found) != 1 || !strings.Contains(found[0], c.want) {
				t.Errorf("found %q, want %q", found, c.want)
			}
		})
	}
}

// TestRefused checks that values with a mistake are refused, by what would be said.
func TestRefused(t *testing.T) {
	for _, c := range []struct{ values, want string }{
		{"replica: 3", "replica"},
		{"image: {repo: x}", "repo"},
		{"resources: {limits: {memory: null}}", "memory"},
		{"autoscaling: {by: cpu}", "by"},
		{"{autoscaling: {by: hpa, minReplicas: 0}, networkPolicy: {from: [{podSelector: {}}]}}", "takes autoscaling.by: keda"},
		{"autoscaling: {minReplicas: -1}", "minReplicas"},
		{"autoscaling: {recordsPerSecond: 0}", "recordsPerSecond"},
		{"config: {sink: {roll: {every: 0s}}}", "which 0s does not bound"},
		{"config: {sink: {roll: {every: often}}}", "sink.roll.every: \"often\" is not a duration"},
		{"kind: DaemonSet", "kind"},
		{"admin: {port: 80}", "port"},
		{"secret: {env: {KAFKA PASSWORD: x}}", "'KAFKA PASSWORD' does not match"},
		{"secret: {env: {URLMILL_ADMIN_TOKEN: x}}", "URLMILL_ADMIN_TOKEN"},
		{"podMonitor: {interval: often}", "interval"},
		{"disruptionBudget: {maxUnavailable: 0}", "maxUnavailable"},
		{"config: null", "missing property 'config'"},
		{"config: ''", "needs brokers and topics"},
		{"config: {source: {kafka: null}}", "needs brokers and topics"},
		{"config: '{'", "config is no YAML"},
		{"config: {source: {kafka: {sasl: {password: secret}}}}", "a ConfigMap is no place for it"},
		{"config: {source: {kafka: {brokers: ['${KAFKA_USER}:9092']}}}", "KEDA asks the brokers itself"},
		{"config: {source: {kafka: {sasl: {mechanism: gssapi}}}}", `KEDA has no "gssapi"`},
		{"config: {source: {kafka: {instance_id: mill}}}", "set kind: StatefulSet"},
		{"secret: {env: null}", "no variable KAFKA_"},
		{"autoscaling: {keda: {authentication: null}}", "has to log in there"},
		{"config: {sink: {parquet: {path: out}}}", "would be gone with the pod"},
		{"config: {dedupe: {path: /seen}}", "replicas do not know of each other's pages"},
		{"config: {sink: {parquet: {iceberg: {table: web.clicks, catalog_file: /c.db}}}}", "Give it a REST catalog"},
		{"config: {admin: {token: x}}", "set admin.port"},
		{"config: {pipeline: {drain_timeout: soon}}", "is not a duration"},
		{"{admin: {enabled: false}, autoscaling: {by: hpa}, networkPolicy: {enabled: false}}", "set admin.enabled"},
		{"{admin: {enabled: false}, podMonitor: {enabled: true}, networkPolicy: {enabled: false}}", "set admin.enabled"},
		{"podMonitor: {enabled: true}", "Prometheus could not reach the listener"},
		{"autoscaling: {by: hpa}", "could not reach the listener"},
		{"networkPolicy: {from: [{}]}", "from"},
	} {
		v := clicksWith(t, c.values)
		if _, err := render(t, "urlmill", v); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v, want %q", c.values, err, c.want)
		}
	}
}

// TestNames checks that releases have names of their own, and that long ones are cut.
func TestNames(t *testing.T) {
	defined := keda(t)
	for release, want := range map[string]string{"urlmill": "urlmill", "clicks": "clicks-urlmill", strings.Repeat("a", 53): strings.Repeat("a", 52)} {
		documents, err := render(t, release, clicksWith(t, "{}"))
		if err != nil {
			t.Fatal(err)
		}
		for _, d := range documents {
			if err := check(d, defined); err != nil {
				t.Error(err)
			}
		}
		set, err := gather(documents)
		if err != nil {
			t.Fatal(err)
		}
		if err := set.fits(); err != nil || set.deployment.Name != want {
			t.Errorf("%s: %s, %v", release, set.deployment.Name, err)
		}
	}
}

// TestLint has "helm lint" look at the chart.
func TestLint(t *testing.T) {
	l := lint.All(chartDir, clicksWith(t, "{}"), "default", true)
	for _, m := range l.Messages {
		if m.Severity > support.InfoSev {
			t.Error(m)
		}
	}
	if _, err := os.Stat(filepath.Join(chartDir, "values.schema.json")); err != nil {
		t.Error(err)
	}
}

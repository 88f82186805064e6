{{/* The name of everything. */}}
{{- define "urlmill.fullname" -}}
{{- if .Values.fullnameOverride -}}
{{- .Values.fullnameOverride | trunc 52 | trimSuffix "-" -}}
{{- else -}}
{{- $name := default .Chart.Name .Values.nameOverride -}}
{{- if contains $name .Release.Name -}}
{{- .Release.Name | trunc 52 | trimSuffix "-" -}}
{{- else -}}
{{- printf "%s-%s" .Release.Name $name | trunc 52 | trimSuffix "-" -}}
{{- end -}}
{{- end -}}
{{- end -}}

{{- define "urlmill.selector" -}}
app.kubernetes.io/name: {{ default .Chart.Name .Values.nameOverride | trunc 63 | trimSuffix "-" }}
app.kubernetes.io/instance: {{ .Release.Name }}
{{- end -}}

{{- define "urlmill.labels" -}}
{{ include "urlmill.selector" . }}
app.kubernetes.io/version: {{ default .Chart.AppVersion .Values.image.tag | trunc 63 | quote }}
{{- end -}}

{{- define "urlmill.secret" -}}
{{- default (include "urlmill.fullname" .) .Values.secret.name -}}
{{- end -}}

{{- define "urlmill.tls" -}}
{{- default (printf "%s-tls" (include "urlmill.fullname" .)) .Values.admin.tlsSecret -}}
{{- end -}}

{{- define "urlmill.serviceAccount" -}}
{{- if .Values.serviceAccount.create -}}
{{- default (include "urlmill.fullname" .) .Values.serviceAccount.name -}}
{{- else -}}
{{- default "default" .Values.serviceAccount.name -}}
{{- end -}}
{{- end -}}

{{/* The configuration as it was given, in JSON, after a look at what would not work here. */}}
{{- define "urlmill.given" -}}
{{- $config := .Values.config -}}
{{- if kindIs "string" $config -}}
{{- $config = fromYaml $config -}}
{{- with $config.Error }}{{ fail (printf "config is no YAML: %s" .) }}{{ end -}}
{{- end -}}
{{- $kafka := default dict (default dict $config.source).kafka -}}
{{- if not (and $kafka.brokers $kafka.topics) -}}
{{- fail "config.source.kafka: this chart runs replicas of a consumer group, and needs brokers and topics. Give it a pipeline: --set-file config=pipeline.yaml" -}}
{{- end -}}
{{- with (default dict $kafka.sasl).password }}{{ if not (contains "${" .) -}}
{{- fail "config.source.kafka.sasl.password: a ConfigMap is no place for it. Write ${KAFKA_PASSWORD}, and let secret.env name a key of a Secret" -}}
{{- end }}{{ end -}}
{{- if $kafka.instance_id -}}
{{- fail "config.source.kafka.instance_id is the chart's: take it out, and set kind: StatefulSet, whose pods keep their names" -}}
{{- end -}}
{{- $variables := default dict .Values.secret.env | keys -}}
{{- range .Values.env }}{{ $variables = append $variables .name }}{{ end -}}
{{- range regexFindAll "\\$\\{[A-Za-z_][A-Za-z0-9_]*\\}" (toJson $config) -1 -}}
{{- $name := trimPrefix "${" . | trimSuffix "}" -}}
{{- if not (has $name $variables) -}}
{{- fail (printf "config: the pods have no variable %s. Let secret.env name a key of a Secret for it, or set it in env" $name) -}}
{{- end -}}
{{- end -}}
{{- range $sink, $options := $config.sink -}}
{{- if and (kindIs "map" $options) (hasKey $options "path") (not (regexMatch "^(s3|gs|az)://" (toString $options.path))) (not $.Values.volumeMounts) -}}
{{- fail (printf "config.sink.%s.path: %s would be gone with the pod. Write to s3://, gs:// or az://, or mount a volume that all processes share: volumes, volumeMounts" $sink $options.path) -}}
{{- end -}}
{{- end -}}
{{- if $config.dedupe -}}
{{- fail "config.dedupe: its state is in a folder of one process, and replicas do not know of each other's pages. Run it as one process, outside of this chart" -}}
{{- end -}}
{{- range $sink, $options := $config.sink -}}
{{- if kindIs "map" $options }}{{ with $options.iceberg }}{{ if not .rest -}}
{{- fail (printf "config.sink.%s.iceberg: a catalog in a file is of one machine, and these are replicas on many. Give it a REST catalog: iceberg.rest" $sink) -}}
{{- end }}{{ end }}{{ end -}}
{{- end -}}
{{- if and .Values.admin.enabled $config.admin -}}
{{- range list "listen" "token" "tls" }}{{ if hasKey $config.admin . -}}
{{- fail (printf "config.admin.%s is the chart's: set admin.port, admin.tokenKey and admin.tlsSecret" .) -}}
{{- end }}{{ end -}}
{{- end -}}
{{- toJson $config -}}
{{- end -}}

{{/* The configuration that runs. The pods of a StatefulSet keep their names, and with them their partitions when they restart. */}}
{{- define "urlmill.config" -}}
{{- $config := include "urlmill.given" . | fromJson -}}
{{- if eq .Values.kind "StatefulSet" -}}
{{- $_ := merge $config.source.kafka (dict "instance_id" "${URLMILL_POD}" "session_timeout" "1m") -}}
{{- end -}}
{{- if .Values.admin.enabled -}}
{{- $tls := dict "cert_file" "/etc/urlmill/tls/tls.crt" "key_file" "/etc/urlmill/tls/tls.key" -}}
{{- $listener := dict "listen" (printf ":%v" (int .Values.admin.port)) "token" "${URLMILL_ADMIN_TOKEN}" "tls" $tls -}}
{{- $_ := set $config "admin" (merge $listener (default dict $config.admin)) -}}
{{- end -}}
{{- toYaml $config -}}
{{- end -}}

{{/* How many seconds a pod has to end: twice pipeline.drain_timeout, and 20 for what comes before and after it. */}}
{{- define "urlmill.grace" -}}
{{- $drain := default dict (include "urlmill.given" . | fromJson).pipeline -}}
{{- include "urlmill.seconds" (list "pipeline.drain_timeout" (default "20s" $drain.drain_timeout)) | int | mul 2 | add 20 -}}
{{- end -}}

{{/* How many seconds a duration of the configuration has: its key, and itself. */}}
{{- define "urlmill.seconds" -}}
{{- $duration := last . | toString -}}
{{- if not (regexMatch "^([0-9]+(h|m|s))+$" $duration) -}}
{{- fail (printf "config.%s: %q is not a duration such as 20s or 1m30s" (first .) $duration) -}}
{{- end -}}
{{- $seconds := 0 -}}
{{- range regexFindAll "[0-9]+(h|m|s)" $duration -1 -}}
{{- $unit := ternary 3600 (ternary 60 1 (hasSuffix "m" .)) (hasSuffix "h" .) -}}
{{- $seconds = add $seconds (mul (trimSuffix "h" . | trimSuffix "m" | trimSuffix "s" | int) $unit) -}}
{{- end -}}
{{- $seconds -}}
{{- end -}}

{{/* How many records one process may be behind before another is started. KEDA counts those as well that wait for their commit. */}}
{{- define "urlmill.lag" -}}
{{- $seconds := .Values.autoscaling.secondsBehind -}}
{{- if eq .Values.autoscaling.by "keda" -}}
{{- $roll := default dict (default dict (include "urlmill.given" . | fromJson).sink).roll -}}
{{- $every := include "urlmill.seconds" (list "sink.roll.every" (default "1m" $roll.every)) | int -}}
{{- if not $every -}}
{{- fail "config.sink.roll.every: KEDA counts what is not committed, which 0s does not bound. Give a time such as 1m, or set autoscaling.by: hpa" -}}
{{- end -}}
{{- $seconds = add $seconds $every -}}
{{- end -}}
{{- mul .Values.autoscaling.recordsPerSecond $seconds -}}
{{- end -}}

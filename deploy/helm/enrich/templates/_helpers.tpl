{{- define "enrich.fullname" -}}
{{- $name := ternary .Release.Name (printf "%s-enrich" .Release.Name) (contains "enrich" .Release.Name) -}}
{{- $name | trunc 45 | trimSuffix "-" -}}
{{- end -}}

{{/* Labels that selectors of a component use. Parameters: root, component. */}}
{{- define "enrich.selector" -}}
app.kubernetes.io/name: enrich
app.kubernetes.io/instance: {{ .root.Release.Name }}
app.kubernetes.io/component: {{ .component }}
{{- end -}}

{{- define "enrich.labels" -}}
{{ include "enrich.selector" . }}
app.kubernetes.io/version: {{ .root.Chart.AppVersion | quote }}
app.kubernetes.io/managed-by: {{ .root.Release.Service }}
helm.sh/chart: {{ .root.Chart.Name }}-{{ .root.Chart.Version }}
{{- end -}}

{{- define "enrich.metadata" -}}
name: {{ include "enrich.fullname" .root }}-{{ .component }}
labels:
  {{- include "enrich.labels" . | nindent 2 }}
{{- end -}}

{{/* Environment of a process. Parameters: root, own (settings of the process), secrets (pattern of its secret settings). */}}
{{- define "enrich.env" -}}
{{- $defaults := dict "LOG_FORMAT" "json" "ENRICH_DATA_DIR" "/var/lib/enrich" -}}
{{- with .root.Values.receiver.ingress }}{{ if .enabled }}
  {{- $_ := set $defaults "WEBHOOK_PUBLIC_URL" (printf "https://%s" .host) -}}
{{- end }}{{ end -}}
{{- range $name, $value := merge (dict) .own .root.Values.settings $defaults }}
- name: {{ $name }}
  value: {{ $value | quote }}
{{- end }}
{{- $needed := .secrets -}}
{{- range $name, $source := .root.Values.secrets }}
{{- if regexMatch $needed $name }}
- name: {{ $name }}
  valueFrom:
    secretKeyRef: { name: {{ $source.name | quote }}, key: {{ $source.key | quote }} }
{{- end }}
{{- end }}
{{- end -}}

{{/* Fields of every container. Parameters: root, args, own, secrets, resources. */}}
{{- define "enrich.container" -}}
{{- $image := .root.Values.image -}}
image: {{ printf "%s:%s" $image.repository ($image.tag | default .root.Chart.AppVersion) | quote }}
imagePullPolicy: {{ .root.Values.image.pullPolicy }}
args: {{ toJson .args }}
env:
  {{- include "enrich.env" . | trim | nindent 2 }}
resources:
  {{- toYaml .resources | nindent 2 }}
securityContext:
  allowPrivilegeEscalation: false
  readOnlyRootFilesystem: true
  capabilities: { drop: [ALL] }
{{- end -}}

{{/* True for components that read exports. Parameters: root, component. */}}
{{- define "enrich.readsExports" -}}
{{- if and .root.Values.exports (has .component (list "worker" "schedules")) }}true{{ end -}}
{{- end -}}

{{/* Volume mounts of a component's container. Parameters: root, component. */}}
{{- define "enrich.mounts" -}}
- { name: tmp, mountPath: /tmp }
- { name: data, mountPath: /var/lib/enrich }
{{- if include "enrich.readsExports" . }}
- { name: exports, mountPath: /exports, readOnly: true }
{{- end }}
{{- with .root.Values.volumeMounts }}
{{ toYaml . }}
{{- end }}
{{- end -}}

{{/* Fields of a PodSpec except its containers. Parameters: root, component, volumes (only for this pod). */}}
{{- define "enrich.pod" -}}
automountServiceAccountToken: false
{{- with .root.Values.serviceAccountName }}
serviceAccountName: {{ . }}
{{- end }}
{{- with .root.Values.image.pullSecrets }}
imagePullSecrets:
  {{- range . }}
  - name: {{ . }}
  {{- end }}
{{- end }}
securityContext:
  runAsNonRoot: true
  runAsUser: 1000
  runAsGroup: 1000
  fsGroup: 1000
  fsGroupChangePolicy: OnRootMismatch
  seccompProfile: { type: RuntimeDefault }
volumes:
  - name: tmp
    emptyDir: {}
  - name: data
    emptyDir: { sizeLimit: {{ .root.Values.worker.stagingSizeLimit }} }
  {{- if include "enrich.readsExports" . }}
  - name: exports
    {{- toYaml .root.Values.exports | nindent 4 }}
  {{- end }}
  {{- with .root.Values.volumes }}
  {{- toYaml . | nindent 2 }}
  {{- end }}
  {{- with .volumes }}
  {{- toYaml . | nindent 2 }}
  {{- end }}
{{- with .root.Values.podSpec }}
{{ toYaml . }}
{{- end }}
{{- end -}}

{{/* Metadata of a pod template. Parameters: root, component. */}}
{{- define "enrich.podMetadata" -}}
labels:
  {{- include "enrich.labels" . | nindent 2 }}
  {{- with .root.Values.podLabels }}
  {{- toYaml . | nindent 2 }}
  {{- end }}
{{- with .root.Values.podAnnotations }}
annotations:
  {{- toYaml . | nindent 2 }}
{{- end }}
{{- end -}}

{{/* Constraints that spread the pods of a component over nodes. Parameters: root, component. */}}
{{- define "enrich.spread" -}}
topologySpreadConstraints:
  - maxSkew: 1
    topologyKey: kubernetes.io/hostname
    whenUnsatisfiable: ScheduleAnyway
    labelSelector:
      matchLabels:
        {{- include "enrich.selector" . | nindent 8 }}
{{- end -}}

{{- define "enrich.disruptionBudget" -}}
{{- if .root.Values.podDisruptionBudget.enabled }}
---
apiVersion: policy/v1
kind: PodDisruptionBudget
metadata:
  {{- include "enrich.metadata" . | nindent 2 }}
spec:
  maxUnavailable: 1
  selector:
    matchLabels:
      {{- include "enrich.selector" . | nindent 6 }}
{{- end }}
{{- end -}}

{{/* Maximum calls in flight per worker. */}}
{{- define "enrich.callConcurrency" -}}
{{- .Values.settings.CALL_CONCURRENCY | default "4" -}}
{{- end -}}

{{/* Maximum number of workers, by the formula in values.yaml: those that the rate limit can use, within the replica limits. */}}
{{- define "enrich.maxReplicas" -}}
{{- $scaling := .Values.autoscaling -}}
{{- $concurrency := include "enrich.callConcurrency" . | int -}}
{{- $replicas := int $scaling.maxReplicas -}}
{{- $limits := .Values.settings.RATE_LIMITS | default "600/hour" | lower | nospace -}}
{{- $named := dict "second" 1 "minute" 60 "hour" 3600 "day" 86400 -}}
{{- $units := dict "s" 1 "m" 60 "h" 3600 "d" 86400 "w" 604800 -}}
{{- range ternary (list) (splitList "," $limits) (eq $limits "unlimited") -}}
  {{- if not (regexMatch "^[0-9]+/([0-9]+[smhdw]|second|minute|hour|day)$" .) -}}
    {{- fail (printf "settings.RATE_LIMITS: %q is not a rate limit, such as 600/hour or 20/10s" .) -}}
  {{- end -}}
  {{- $window := splitList "/" . | last -}}
  {{- $seconds := get $named $window -}}
  {{- if not $seconds -}}
    {{- $seconds = mul (regexFind "^[0-9]+" $window | int) (get $units (regexFind "[a-z]$" $window)) -}}
  {{- end -}}
  {{- $calls := splitList "/" . | first | float64 -}}
  {{- $useful := divf (mulf $calls $scaling.callSeconds) (mulf $seconds $concurrency) | ceil | int -}}
  {{- $replicas = min $replicas (max $scaling.minReplicas $useful) -}}
{{- end -}}
{{- $replicas -}}
{{- end -}}

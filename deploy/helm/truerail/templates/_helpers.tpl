{{/* Labels that choose the pods of a component: (dict "root" $ "component" "front"). */}}
{{- define "truerail.selector" -}}
app.kubernetes.io/name: truerail
app.kubernetes.io/instance: {{ .root.Release.Name }}
app.kubernetes.io/component: {{ .component }}
{{- end }}

{{- define "truerail.labels" -}}
{{ include "truerail.selector" . }}
app.kubernetes.io/version: {{ .root.Chart.AppVersion | quote }}
app.kubernetes.io/part-of: truerail
app.kubernetes.io/managed-by: {{ .root.Release.Service }}
{{- end }}

{{/* The settings with what the chart decides: where to listen, and where the journal is. */}}
{{- define "truerail.settings" -}}
{{- $own := dict "http" (dict "host" "0.0.0.0" "port" 8080) "journal" (dict "url" "sqlite:////var/lib/truerail/truerail.db") -}}
{{- toYaml (merge (dict "http" (get $own "http")) (deepCopy .Values.settings) $own) -}}
{{- end }}

{{- define "truerail.sqlite" -}}
{{- if hasPrefix "sqlite:" (dig "journal" "url" "sqlite:" .Values.settings) }}true{{ end -}}
{{- end }}

{{/* Whether the service asks the API of the cluster for jobs. */}}
{{- define "truerail.inCluster" -}}
{{- if eq "in-cluster" (dig "jobs" "kubernetes" "via" "" .Values.settings) }}true{{ end -}}
{{- end }}

{{- define "truerail.image" -}}
{{ .Values.image.repository }}:{{ .Values.image.tag | default .Chart.AppVersion }}
{{- end }}

{{- define "truerail.bus" -}}
{{- $bus := printf "%s-bus" .Release.Name -}}
{{- range $number := until 3 }}{{ if $number }},{{ end }}tls://{{ $bus }}-{{ $number }}.{{ $bus }}:4222{{ end -}}
{{- end }}

{{- define "truerail.locked" -}}
allowPrivilegeEscalation: false
readOnlyRootFilesystem: true
capabilities: {drop: [ALL]}
{{- end }}

{{/* What every pod may do, and how its replicas are spread. */}}
{{- define "truerail.podDefaults" -}}
serviceAccountName: {{ .root.Release.Name }}
automountServiceAccountToken: {{ and (eq .component "service") (eq "true" (include "truerail.inCluster" .root)) }}
# Variables such as TRUERAIL_PORT, which Kubernetes makes for a service of this name, would be read as settings.
enableServiceLinks: false
securityContext:
  runAsNonRoot: true
  runAsUser: 10001
  runAsGroup: 10001
  fsGroup: 10001
  fsGroupChangePolicy: OnRootMismatch
  seccompProfile: {type: RuntimeDefault}
{{- with .root.Values.image.pullSecrets }}
imagePullSecrets: {{- toYaml . | nindent 2 }}
{{- end }}
{{- if .root.Values.bus.enabled }}
topologySpreadConstraints:
  - maxSkew: 1
    topologyKey: kubernetes.io/hostname
    whenUnsatisfiable: ScheduleAnyway
    labelSelector:
      matchLabels: {{- include "truerail.selector" . | nindent 8 }}
{{- end }}
{{- end }}

{{/* The template of a pod of truerail: component, args, secret, ready (a path, none for a poller), claim, resources. */}}
{{- define "truerail.pod" -}}
metadata:
  labels: {{- include "truerail.labels" . | nindent 4 }}
  annotations:
    # A change of the settings restarts: they are read when the process starts.
    checksum/config: {{ include (print .root.Template.BasePath "/config.yaml") .root | sha256sum }}
spec:
  {{- include "truerail.podDefaults" . | nindent 2 }}
  terminationGracePeriodSeconds: 30
  containers:
    - name: truerail
      image: {{ include "truerail.image" .root }}
      imagePullPolicy: {{ .root.Values.image.pullPolicy }}
      args: {{- toYaml (concat (list "serve") .args (list "--config=/etc/truerail/truerail.yaml")) | nindent 8 }}
      securityContext: {{- include "truerail.locked" . | nindent 8 }}
      {{- if .ready }}
      ports:
        - {name: http, containerPort: 8080, protocol: TCP}
      startupProbe:
        httpGet: {path: /healthz, port: http}
        periodSeconds: 3
        failureThreshold: 40
      livenessProbe:
        httpGet: {path: /healthz, port: http}
        periodSeconds: 15
        timeoutSeconds: 5
        failureThreshold: 4
      readinessProbe:
        httpGet: {path: {{ .ready }}, port: http}
        periodSeconds: 5
        timeoutSeconds: 5
      {{- end }}
      resources: {{- toYaml .resources | nindent 8 }}
      volumeMounts:
        - {name: config, mountPath: /etc/truerail, readOnly: true}
        - {name: credentials, mountPath: /run/secrets/truerail, readOnly: true}
        - {name: state, mountPath: /var/lib/truerail}
        - {name: tmp, mountPath: /tmp}
  volumes:
    - name: config
      configMap: {name: {{ .root.Release.Name }}-{{ .component }}}
    - name: credentials
      secret: {secretName: {{ .secret }}, defaultMode: 0440}
    - name: state
      {{- if .claim }}
      persistentVolumeClaim: {claimName: {{ .claim }}}
      {{- else }}
      emptyDir: {sizeLimit: 1Gi}
      {{- end }}
    - name: tmp
      emptyDir: {sizeLimit: 64Mi}
{{- end }}

{{/* Replicas of a role, replaced one after the other. */}}
{{- define "truerail.oneByOne" -}}
strategy:
  type: RollingUpdate
  rollingUpdate: {maxSurge: 0, maxUnavailable: 1}
{{- end }}

{{/* One pod at a time may be taken away. */}}
{{- define "truerail.budget" -}}
---
apiVersion: policy/v1
kind: PodDisruptionBudget
metadata:
  name: {{ .root.Release.Name }}-{{ .component }}
  labels: {{- include "truerail.labels" . | nindent 4 }}
spec:
  maxUnavailable: 1
  selector:
    matchLabels: {{- include "truerail.selector" . | nindent 6 }}
{{- end }}

{{- define "truerail.egressDns" -}}
- to:
    - namespaceSelector:
        matchLabels: {kubernetes.io/metadata.name: kube-system}
      podSelector:
        matchLabels: {k8s-app: kube-dns}
  ports:
    - {port: 53, protocol: UDP}
    - {port: 53, protocol: TCP}
{{- end }}

{{- define "truerail.egressBus" -}}
- to:
    - podSelector:
        matchLabels: {{- include "truerail.selector" (dict "root" . "component" "bus") | nindent 10 }}
  ports:
    - {port: clients, protocol: TCP}
{{- end }}

{{/* SSH and SNMP to anywhere, because a fabric's addresses are in the inventory. */}}
{{- define "truerail.egressDevices" -}}
- ports:
    - {port: 22, protocol: TCP}
    - {port: 161, protocol: UDP}
{{- end }}

{{- define "truerail.ingressHttp" -}}
- from:
    - namespaceSelector:
        matchExpressions:
          - {key: kubernetes.io/metadata.name, operator: In, values: {{ toJson .Values.networkPolicy.ingressNamespaces }}}
  ports:
    - {port: http, protocol: TCP}
{{- end }}

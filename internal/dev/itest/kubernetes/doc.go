// Package kubernetes checks the Helm chart and the manifests of docs/deploy: Helm's own code renders and lints them,
// Kubernetes' own decodes them strictly, sets defaults, validates, and asks whether the restricted level of its pod security
// admits the pods; KEDA's definitions judge what is KEDA's; urlmill lint judges the pipeline. It needs no cluster.
package kubernetes

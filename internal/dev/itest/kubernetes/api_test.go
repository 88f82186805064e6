package kubernetes

import (
	"fmt"

	monitoring "github.com/prometheus-operator/prometheus-operator/pkg/apis/monitoring/v1"
	appsv1 "k8s.io/api/apps/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/runtime/serializer"
	"k8s.io/apimachinery/pkg/util/validation/field"
	"k8s.io/kubernetes/pkg/api/legacyscheme"
	podapi "k8s.io/kubernetes/pkg/api/pod"
	"k8s.io/kubernetes/pkg/apis/apps"
	_ "k8s.io/kubernetes/pkg/apis/apps/install"
	appsvalidation "k8s.io/kubernetes/pkg/apis/apps/validation"
	"k8s.io/kubernetes/pkg/apis/autoscaling"
	_ "k8s.io/kubernetes/pkg/apis/autoscaling/install"
	autoscalingvalidation "k8s.io/kubernetes/pkg/apis/autoscaling/validation"
	"k8s.io/kubernetes/pkg/apis/core"
	_ "k8s.io/kubernetes/pkg/apis/core/install"
	corevalidation "k8s.io/kubernetes/pkg/apis/core/validation"
	"k8s.io/kubernetes/pkg/apis/networking"
	_ "k8s.io/kubernetes/pkg/apis/networking/install"
	networkingvalidation "k8s.io/kubernetes/pkg/apis/networking/validation"
	"k8s.io/kubernetes/pkg/apis/policy"
	_ "k8s.io/kubernetes/pkg/apis/policy/install"
	policyvalidation "k8s.io/kubernetes/pkg/apis/policy/validation"
	podsecurity "k8s.io/pod-security-admission/api"
	podpolicy "k8s.io/pod-security-admission/policy"
	sigsjson "sigs.k8s.io/json"
	"sigs.k8s.io/yaml"
)

// strict decodes as an API server does that was asked to refuse unknown and repeated fields.
var strict = serializer.NewCodecFactory(legacyscheme.Scheme, serializer.EnableStrict)

// check judges a document as the server would that it is applied to: nil, or everything that is wrong with it.
func check(document string, defined definitions) error {
	var head metav1.TypeMeta
	if err := yaml.Unmarshal([]byte(document), &head); err != nil {
		return err
	}
	kind := head.GroupVersionKind()
	switch kind.Group {
	case "keda.sh":
		return defined.check(document, kind)
	case monitoring.SchemeGroupVersion.Group:
		return checkMonitor(document, kind)
	}
	o, _, err := strict.UniversalDecoder().Decode([]byte(document), nil, nil)
	if err != nil {
		return fmt.Errorf("%s: %w", kind.Kind, err)
	}
	m, err := meta.Accessor(o)
	if err != nil {
		return err
	}
	if m.GetNamespace() == "" {
		m.SetNamespace(metav1.NamespaceDefault)
	}
	if errs := validate(o); len(errs) > 0 {
		return fmt.Errorf("%s: %w", kind.Kind, errs.ToAggregate())
	}
	switch kind.Kind {
	case "Deployment", "StatefulSet":
		return checkPod(document)
	}
	return nil
}

// validate is the validation of what has its defaults.
func validate(o runtime.Object) field.ErrorList {
	switch o := o.(type) {
	case *core.ConfigMap:
		return corevalidation.ValidateConfigMap(o)
	case *core.ServiceAccount:
		return corevalidation.ValidateServiceAccount(o)
	case *apps.Deployment:
		return appsvalidation.ValidateDeployment(o, podapi.GetValidationOptionsFromPodTemplate(&o.Spec.Template, nil))
	case *apps.StatefulSet:
		return appsvalidation.ValidateStatefulSet(o, podapi.GetValidationOptionsFromPodTemplate(&o.Spec.Template, nil))
	case *policy.PodDisruptionBudget:
		return policyvalidation.ValidatePodDisruptionBudget(o, policyvalidation.PodDisruptionBudgetValidationOptions{})
	case *networking.NetworkPolicy:
		return networkingvalidation.ValidateNetworkPolicy(o, networkingvalidation.NetworkPolicyValidationOptions{})
	case *autoscaling.HorizontalPodAutoscaler:
		return autoscalingvalidation.ValidateHorizontalPodAutoscaler(o, autoscalingvalidation.HorizontalPodAutoscalerSpecValidationOptions{MinReplicasLowerBound: 1})
	default:
		return field.ErrorList{field.InternalError(nil, fmt.Errorf("%T is of no kind that the tests know how to validate", o))}
	}
}

// checkPod asks whether a namespace that enforces the restricted level admits the pods of a document.
func checkPod(document string) error {
	var d appsv1.Deployment // a StatefulSet has its template at the same place
	if err := yaml.Unmarshal([]byte(document), &d); err != nil {
		return err
	}
	evaluator, err := podpolicy.NewEvaluator(podpolicy.DefaultChecks(), nil)
	if err != nil {
		return err
	}
	level := podsecurity.LevelVersion{Level: podsecurity.LevelRestricted, Version: podsecurity.LatestVersion()}
	results := evaluator.EvaluatePod(level, &d.Spec.Template.ObjectMeta, &d.Spec.Template.Spec)
	if sum := podpolicy.AggregateCheckResults(results); !sum.Allowed {
		return fmt.Errorf("not restricted: %s", sum.ForbiddenDetail())
	}
	return nil
}

// checkMonitor decodes what is for Prometheus' operator.
func checkMonitor(document string, kind schema.GroupVersionKind) error {
	if kind != monitoring.SchemeGroupVersion.WithKind(monitoring.PodMonitorsKind) {
		return fmt.Errorf("%s: not known to the tests", kind)
	}
	m, err := decode[monitoring.PodMonitor](document)
	if err != nil {
		return err
	}
	for _, e := range m.Spec.PodMetricsEndpoints {
		if err := e.HTTPConfigWithProxy.Validate(); err != nil {
			return err
		}
	}
	return nil
}

// decode decodes into a type of an API, and refuses unknown, repeated and differently cased fields.
func decode[T any](document string) (out T, err error) {
	text, err := yaml.YAMLToJSONStrict([]byte(document))
	if err != nil {
		return out, err
	}
	wrong, err := sigsjson.UnmarshalStrict(text, &out)
	if err == nil && len(wrong) > 0 {
		err = fmt.Errorf("%T: %v", out, wrong)
	}
	return out, err
}

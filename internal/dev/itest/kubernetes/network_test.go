package kubernetes

import (
	"errors"
	"fmt"
	"net"
	"slices"
	"strconv"
	"strings"
	"testing"

	networkingv1 "k8s.io/api/networking/v1"
)

// reach checks that a policy lets nobody in but to the listener, and lets out what the pipeline needs: names, brokers, S3.
func (s *set) reach() error {
	if s.network == nil {
		return nil
	}
	var errs []error
	spec, c := s.network.Spec, s.deployment.Spec.Template.Spec.Containers[0]
	if !slices.Contains(spec.PolicyTypes, networkingv1.PolicyTypeIngress) {
		errs = append(errs, errors.New("everybody may reach the pods"))
	}
	for _, rule := range spec.Ingress {
		if len(rule.From) == 0 || len(rule.Ports) != 1 || rule.Ports[0].Port == nil || rule.Ports[0].Port.StrVal != c.Ports[0].Name {
			errs = append(errs, fmt.Errorf("more than some may reach more than the listener: %+v", rule))
		}
	}
	if restricts := slices.Contains(spec.PolicyTypes, networkingv1.PolicyTypeEgress); restricts != (len(spec.Egress) > 0) {
		errs = append(errs, fmt.Errorf("%v with the rules %+v", spec.PolicyTypes, spec.Egress))
	} else if !restricts {
		return errors.Join(errs...)
	}
	needs := []string{"53"}
	for _, broker := range s.pipeline.Source.Kafka.Brokers {
		_, port, err := net.SplitHostPort(broker)
		errs, needs = append(errs, err), append(needs, port)
	}
	if strings.Contains(s.config.Data["pipeline.yaml"], "s3://") {
		needs = append(needs, "443")
	}
	for _, port := range needs {
		if !slices.ContainsFunc(spec.Egress, func(r networkingv1.NetworkPolicyEgressRule) bool { return lets(r, port) }) {
			errs = append(errs, fmt.Errorf("no rule lets the pods reach port %s", port))
		}
	}
	return errors.Join(errs...)
}

// lets reports whether a rule lets connections to a port out.
func lets(r networkingv1.NetworkPolicyEgressRule, port string) bool {
	return len(r.Ports) == 0 || slices.ContainsFunc(r.Ports, func(p networkingv1.NetworkPolicyPort) bool {
		return p.Port == nil || strconv.Itoa(p.Port.IntValue()) == port
	})
}

// TestNetwork checks who may reach the listener by the values, and that rules for the outside that leave brokers out are seen.
func TestNetwork(t *testing.T) {
	defined := keda(t)
	for _, c := range []struct {
		values    string
		in, out   int
		complaint string
	}{
		{"networkPolicy: {egress: null}", 0, 0, ""},
		{"{}", 0, 2, ""},
		{"networkPolicy: {from: [{podSelector: {}}]}", 1, 2, ""},
		{"{admin: {enabled: false}, networkPolicy: {from: [{podSelector: {}}]}}", 0, 2, ""},
		{"networkPolicy: {egress: [{to: [{ipBlock: {cidr: 10.0.0.0/8}}]}]}", 0, 2, ""},
		{"networkPolicy: {egress: [{ports: [{port: 443}]}]}", 0, 2, "port 9092"},
		{"networkPolicy: {egress: [{ports: [{port: 9092}]}]}", 0, 2, "port 443"},
	} {
		documents := mustRender(t, clicksWith(t, c.values))
		for _, d := range documents {
			if err := check(d, defined); err != nil {
				t.Errorf("%s: %v", c.values, err)
			}
		}
		set, err := gather(documents)
		if err != nil {
			t.Fatal(err)
		}
		if set.network == nil || len(set.network.Spec.Ingress) != c.in || len(set.network.Spec.Egress) != c.out {
			t.Errorf("%s: %+v", c.values, set.network)
			continue
		}
		switch err := set.fits(); {
		case c.complaint == "" && err != nil, c.complaint != "" && (err == nil || !strings.Contains(err.Error(), c.complaint)):
			t.Errorf("%s: %v, want %q", c.values, err, c.complaint)
		}
	}
}

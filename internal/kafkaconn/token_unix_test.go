//go:build unix

package kafkaconn

import (
	"strings"
	"testing"
)

func TestTokenCommand(t *testing.T) {
	shell := func(script string) *OAuth { return &OAuth{TokenCommand: []string{"sh", "-c", script}} }
	m, err := SASL{Mechanism: MechanismOAuthBearer, OAuth: shell("echo abc; echo talk >&2")}.NewMechanism()
	if err != nil {
		t.Fatal(err)
	}
	if _, first, err := m.Start(t.Context()); err != nil || !strings.Contains(string(first), "=Bearer abc\x01") {
		t.Errorf("%q, %v", first, err)
	}
	failsWith(t, &OAuth{TokenCommand: []string{"/no/such/program"}}, true, `no program "/no/such/program"`, "full path")
	failsWith(t, &OAuth{TokenCommand: []string{"no-such-program"}}, true, "no program")
	failsWith(t, shell("echo not logged in >&2; echo abc; exit 3"), false, "exit status 3: not logged in", "by hand")
	failsWith(t, shell("sleep 60"), false, "did not end within dial_timeout")
	failsWith(t, shell("sleep 60 & wait"), false, "did not end within dial_timeout")
	failsWith(t, shell("yes s3cret"), false, "prints more than")
	failsWith(t, shell("yes s3cret >&2 | head -c 100000000 >/dev/null; exit 1"), false)
}

package kafka

import (
	"encoding/base64"
	"fmt"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/urlmill/urlmill/internal/dev/kafkatest"
	"github.com/urlmill/urlmill/internal/dev/testproc"
	"github.com/urlmill/urlmill/internal/kafkaconn"
	"github.com/urlmill/urlmill/sources/codec"
)

// provider is an identity provider that gives tokens without signatures, with a scope, which live for so long.
type provider struct {
	*httptest.Server
	scope atomic.Value // string
	life  time.Duration
	given sync.Map // by their texts
}

func newProvider(t *testing.T, life time.Duration) *provider {
	p := &provider{life: life}
	p.scope.Store("kafka")
	p.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		now := time.Now()
		claims := fmt.Sprintf(`{"sub":"mill","scope":%q,"iat":%d,"exp":%d}`, p.scope.Load(), now.Unix()-1, now.Add(p.life).Unix())
		text := base64.RawURLEncoding.EncodeToString([]byte(`{"alg":"none"}`)) + "." + base64.RawURLEncoding.EncodeToString([]byte(claims)) + "."
		p.given.Store(text, true)
		w.Header().Set("Content-Type", "application/json")
		_, _ = fmt.Fprintf(w, `{"access_token":%q,"token_type":"bearer","expires_in":%d}`, text, int(p.life.Seconds()))
	}))
	t.Cleanup(p.Close)
	return p
}

// TestTokens logs in at Apache Kafka by OAUTHBEARER, with sessions that the broker ends after some seconds: connections log in
// again before that, so that it never hangs up.
func TestTokens(t *testing.T) {
	noLeaks(t)
	const session = 8 * time.Second
	k := kafkatest.Start(t, kafkatest.Options{
		TLS: true, Tokens: map[string]string{"unsecuredValidatorRequiredScope": "kafka"},
		Properties: map[string]string{"connections.max.reauth.ms": fmt.Sprint(session.Milliseconds())},
	})
	k.CreateTopic(t, "tokens", 1)
	k.Produce(t, numbered("tokens", 1, 0, 10))
	idp := newProvider(t, time.Hour)
	o := realOptions(t, k, "tokens")
	o.Brokers = []string{k.SASLAddr()}
	o.SASL = SASL{Mechanism: kafkaconn.MechanismOAuthBearer, OAuth: &kafkaconn.OAuth{TokenURL: idp.URL, ClientID: "mill", ClientSecret: "s3cret"}}
	t.Run("over TLS", func(t *testing.T) {
		o := o
		o.Brokers, o.TLS = []string{k.SASLTLSAddr()}, TLS{Enabled: true, CAFile: k.CAFile()}
		reads(t, o, 10)
	})
	t.Run("wrong scope", func(t *testing.T) {
		idp.scope.Store("other")
		defer idp.scope.Store("kafka")
		fails(t, o, "refused the token", "insufficient_scope", "check that the token is meant for these brokers")
	})
	t.Run("with an extension", func(t *testing.T) {
		o := o
		oauth := *o.SASL.OAuth
		oauth.Extensions = map[string]string{"logicalCluster": "lkc-1"}
		o.SASL.OAuth = &oauth
		reads(t, o, 10)
	})
	t.Run("for longer than a session", func(t *testing.T) {
		c := newCollector(t)
		log := new(testproc.Log)
		source, err := New(o, codec.NewLines(codec.LinesOptions{}), slog.New(slog.NewTextHandler(log, &slog.HandlerOptions{Level: slog.LevelDebug})))
		if err != nil {
			t.Fatal(err)
		}
		run := startSource(t, source, c)
		c.awaitRows(10)
		client := k.Client(t)
		for n, until := 10, time.Now().Add(5*session/2); time.Now().Before(until); n += 10 {
			kafkatest.Produce(t, client, numbered("tokens", 1, n, n+10))
			c.awaitRows(n + 10)
			time.Sleep(session / 8)
		}
		run.stop()
		if n := run.source.retries.Load(); n > 0 {
			t.Errorf("%d requests failed: the broker hung up", n)
		}
		idp.given.Range(func(token, _ any) bool {
			if strings.Contains(log.String(), token.(string)) || strings.Contains(log.String(), "s3cret") {
				t.Errorf("a token or the secret is in the log:\n%s", log)
			}
			return true
		})
	})
}

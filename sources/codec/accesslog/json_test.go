package accesslog

import (
	"fmt"
	"testing"

	"github.com/urlmill/urlmill/pipeline"
)

func TestCaddy(t *testing.T) {
	const record = `{"level":"info","ts":1646861401.5241024,"logger":"http.log.access","msg":"handled request","request":{"remote_ip":"127.0.0.1",` +
		`"proto":"HTTP/2.0","method":"GET","host":"localhost:8443","uri":"/a?b=1","headers":{"User-Agent":["curl/7.82.0"],"Referer":["https://r.example/"]},` +
		`"tls":{}},"user_id":"","duration":0.000929675,"size":10900,"status":200}`
	const want = "map[bytes:10900 http_host:localhost:8443 method:GET protocol:HTTP/2.0 referer:https://r.example/ remote_addr:127.0.0.1 request_time:0.000929675 " +
		"status:200 time:2022-03-09T21:30:01.524102Z url:%s://localhost:8443/a?b=1 user_agent:curl/7.82.0]"
	for scheme, written := range map[string]string{"": "https", "http": "http"} {
		rows := decode(t, Options{Format: Caddy, Scheme: scheme}, record)
		if got, want := fmt.Sprint(rows[0]), fmt.Sprintf(want, written); got != want {
			t.Errorf("%s\nwant %s", got, want)
		}
	}
}

func TestCaddyOptions(t *testing.T) {
	all := pipeline.FieldErrors(Options{Format: Caddy, Fields: []string{"x"}}.Validate())
	if got, want := fmt.Sprint(all), "[fields: only the formats w3c and cloudfront_realtime take them; the others have all of theirs]"; got != want {
		t.Errorf("%s\nwant %s", got, want)
	}
}

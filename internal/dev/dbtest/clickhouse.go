package dbtest

import (
	"bytes"
	"context"
	"fmt"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"syscall"
	"testing"

	"github.com/urlmill/urlmill/internal/dev/testproc"
)

const (
	clickhouseConfig = `<yandex>
<logger><level>warning</level><console>1</console></logger>
<listen_host>127.0.0.1</listen_host><http_port>%d</http_port><tcp_port>%d</tcp_port>
<path>data/</path><tmp_path>tmp/</tmp_path><users_config>users.xml</users_config>
<default_profile>default</default_profile><default_database>default</default_database><mark_cache_size>5368709</mark_cache_size>
%s
</yandex>
`
	clickhouseUsers = `<yandex><profiles><default/></profiles><quotas><default/></quotas>
<users><default><password></password><networks><ip>127.0.0.1</ip></networks><profile>default</profile><quota>default</quota></default></users>
</yandex>
`
)

// ClickHouse starts a ClickHouse server of its own and returns the address of its HTTP interface. Without one on this machine
// it skips the test, or fails it when URLMILL_REQUIRE_CLICKHOUSE is 1.
func ClickHouse(tb testing.TB) string {
	tb.Helper()
	return clickHouse(tb, "")
}

// clickHouse is [ClickHouse] with more settings.
func clickHouse(tb testing.TB, more string) string {
	tb.Helper()
	binary := program("clickhouse-server", "/usr/sbin/clickhouse-server")
	if binary == "" {
		testproc.Missing(tb, "URLMILL_REQUIRE_CLICKHOUSE", "there is no ClickHouse server: apt-get install clickhouse-server")
	}
	s := newServer(tb)
	ports := testproc.Ports(tb, 2)
	for name, content := range map[string]string{"config.xml": fmt.Sprintf(clickhouseConfig, ports[0], ports[1], more), "users.xml": clickhouseUsers} {
		if err := os.WriteFile(filepath.Join(s.dir, name), []byte(content), 0o644); err != nil {
			tb.Fatal(err)
		}
	}
	address := fmt.Sprintf("127.0.0.1:%d", ports[0])
	s.start(s.command(binary, "--config-file=config.xml"), syscall.SIGTERM, func() error { return testproc.AnswersOK("http://" + address + "/ping") })
	return address
}

// QueryClickHouse has a ClickHouse server at an address run a query, with the rows that it inserts, and returns its answer.
func QueryClickHouse(ctx context.Context, address, query string, rows []byte) ([]byte, error) {
	r, err := http.NewRequestWithContext(ctx, http.MethodPost, "http://"+address+"/?query="+url.QueryEscape(query), bytes.NewReader(rows))
	if err != nil {
		return nil, err
	}
	return testproc.Ask(r)
}

package dbtest

import (
	"fmt"
	"io"
	"net"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/urlmill/urlmill/internal/dev/testproc"
)

// zookeeperClasses are where Debian has a ZooKeeper.
const zookeeperClasses = "/usr/share/java/zookeeper.jar"

// ClickHouseReplicas starts ClickHouse servers that share a ZooKeeper, which replicated tables need, and returns the addresses of their HTTP
// interfaces. Without one of the two on this machine it skips the test, or fails it when URLMILL_REQUIRE_CLICKHOUSE is 1.
func ClickHouseReplicas(tb testing.TB, n int) (addresses []string) {
	tb.Helper()
	java := program("java")
	if _, err := os.Stat(zookeeperClasses); err != nil || java == "" {
		testproc.Missing(tb, "URLMILL_REQUIRE_CLICKHOUSE", "there is no ZooKeeper: apt-get install zookeeper, and Java")
	}
	s := newServer(tb)
	port := testproc.Ports(tb, 1)[0]
	// Its command line has no place for the address that it listens on.
	config := fmt.Sprintf("dataDir=%s\nclientPort=%d\nclientPortAddress=127.0.0.1\nadmin.enableServer=false\n4lw.commands.whitelist=srvr\n", filepath.Join(s.dir, "data"), port)
	if err := os.WriteFile(filepath.Join(s.dir, "zoo.cfg"), []byte(config), 0o644); err != nil {
		tb.Fatal(err)
	}
	at := fmt.Sprintf("127.0.0.1:%d", port)
	s.start(s.command(java, "-Xmx256m", "-cp", zookeeperClasses, "org.apache.zookeeper.server.ZooKeeperServerMain", "zoo.cfg"), syscall.SIGTERM, func() error {
		c, err := net.Dial("tcp", at)
		if err != nil {
			return err
		}
		defer c.Close()
		if err := c.SetDeadline(time.Now().Add(5 * time.Second)); err != nil { // who asks while it starts may never have an answer
			return err
		}
		if _, err := c.Write([]byte("srvr")); err != nil {
			return err
		}
		if text, err := io.ReadAll(c); err != nil || !strings.Contains(string(text), "Mode:") {
			return fmt.Errorf("it says %q, %w", text, err) // it listens before it serves
		}
		return nil
	})
	for range n {
		interserver := testproc.Ports(tb, 1)[0]
		addresses = append(addresses, clickHouse(tb, fmt.Sprintf("<zookeeper><node><host>127.0.0.1</host><port>%d</port></node></zookeeper>\n"+
			"<interserver_http_host>127.0.0.1</interserver_http_host><interserver_http_port>%d</interserver_http_port>", port, interserver)))
	}
	return addresses
}

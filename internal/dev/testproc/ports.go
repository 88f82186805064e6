package testproc

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"net"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
)

const (
	firstPort = 20_000
	lastPort  = 32_767 // Linux hands out those from 32768 on by itself, others from 49152
)

// Ports returns n TCP ports of 127.0.0.1 that nobody listens on and that no other test takes before this one is over,
// even while the test does not listen on them itself.
func Ports(tb testing.TB, n int) []int {
	tb.Helper()
	ports, release, err := ReservePorts(n)
	if err != nil {
		tb.Fatal(err)
	}
	tb.Cleanup(release)
	return ports
}

// ReservePorts keeps n ports as [Ports] does, until release is called. They are outside the range from which the kernel
// takes the ports of outgoing connections and of listeners that ask for any: such a one could sit on the port of a
// broker that is down for a moment. Locked files keep the other test processes away.
func ReservePorts(n int) (ports []int, release func(), err error) {
	dir := filepath.Join(os.TempDir(), fmt.Sprintf("urlmill-test-ports-%d", os.Getuid()))
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, nil, err
	}
	var unlocks []func()
	release = func() {
		for _, unlock := range unlocks {
			unlock()
		}
	}
	end := min(lastPort+1, ephemeralStart())
	if end < firstPort+1000 {
		end = lastPort + 1
	}
	for _, i := range rand.Perm(end - firstPort) {
		if len(ports) == n {
			return ports, release, nil
		}
		port := firstPort + i
		unlock, ok := tryLockFile(filepath.Join(dir, strconv.Itoa(port)))
		if !ok {
			continue
		}
		if !isFree(port) {
			unlock()
			continue
		}
		ports, unlocks = append(ports, port), append(unlocks, unlock)
	}
	release()
	return nil, nil, errors.New("no free ports on 127.0.0.1")
}

func isFree(port int) bool {
	l, err := net.Listen("tcp", net.JoinHostPort("127.0.0.1", strconv.Itoa(port)))
	return err == nil && l.Close() == nil
}

// ephemeralStart returns the first port that the kernel hands out by itself.
func ephemeralStart() int {
	text, err := os.ReadFile("/proc/sys/net/ipv4/ip_local_port_range")
	if fields := strings.Fields(string(text)); err == nil && len(fields) == 2 {
		if n, err := strconv.Atoi(fields[0]); err == nil {
			return n
		}
	}
	return lastPort + 1
}

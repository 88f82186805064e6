package main

import (
	"bytes"
	"io"
	"net"
	"sync/atomic"
)

// counter stands between urlmill and a server, and counts the bytes to it and the requests of HTTP, or the statements of PostgreSQL.
type counter struct {
	bytes, requests atomic.Int64
	listener        net.Listener
}

func (c *counter) listen(server string) (address string, err error) {
	if c.listener, err = net.Listen("tcp", "127.0.0.1:0"); err != nil {
		return "", err
	}
	go func() {
		for {
			client, err := c.listener.Accept()
			if err != nil {
				return
			}
			go c.serve(client, server)
		}
	}()
	return c.listener.Addr().String(), nil
}

func (c *counter) serve(client net.Conn, server string) {
	defer func() { _ = client.Close() }()
	to, err := net.Dial("tcp", server)
	if err != nil {
		return
	}
	defer func() { _ = to.Close() }()
	go func() {
		_, _ = io.Copy(client, to)
		_ = client.Close()
	}()
	buf := make([]byte, 256<<10)
	for {
		n, err := client.Read(buf)
		c.bytes.Add(int64(n))
		c.requests.Add(int64(bytes.Count(buf[:n], []byte(" HTTP/1.1\r\n"))))
		if _, failed := to.Write(buf[:n]); err != nil || failed != nil {
			return
		}
	}
}

func (c *counter) close() {
	if c.listener != nil {
		_ = c.listener.Close()
	}
}

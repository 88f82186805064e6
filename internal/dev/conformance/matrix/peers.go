package main

import (
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
)

// peerFigures are what internal/dev/conformance/peers, a module of its own, has measured of other implementations.
type peerFigures struct {
	Peers []string                     // their names with versions
	Files map[string]map[string][2]int // passed and total, by file and peer
}

// measurePeers runs them. Without the module's dependencies there are no figures.
func measurePeers(root, data string) *peerFigures {
	cmd := exec.Command("go", "run", ".", data)
	cmd.Dir = filepath.Join(root, "internal", "dev", "conformance", "peers")
	cmd.Stderr = os.Stderr
	out, err := cmd.Output()
	figures := new(peerFigures)
	if err == nil {
		err = json.Unmarshal(out, figures)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "no figures of other implementations:", err)
		return new(peerFigures)
	}
	return figures
}

func (p *peerFigures) names() []string { return p.Peers }

// cell returns what a peer passes of the file that t is about, "" if that was not measured. Figures are given once, for the
// tally of the whole file.
func (p *peerFigures) cell(peer string, t tally) string {
	figure, ok := p.Files[strings.TrimSpace(t.what)][peer]
	if !ok || figure[1] == 0 {
		return ""
	}
	return fmt.Sprintf("%d/%d", figure[0], figure[1])
}

package processor

// Kept returns how many workspaces are kept for later calls.
func Kept(p *Processor) int {
	p.mu.Lock()
	defer p.mu.Unlock()
	return len(p.free)
}

// Lent returns how many workspaces records lie in.
func Lent(p *Processor) int {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.lent
}

// Memory returns about the bytes of the workspaces that are kept.
func Memory(p *Processor) (n int) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, w := range p.free {
		n += w.memory()
	}
	return n
}

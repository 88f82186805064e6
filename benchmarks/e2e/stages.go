package main

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/google/pprof/profile"
)

// stageNames are the stages of a pipeline as they are shown. The rest is the garbage collector and the runtime, and
// what does not belong to a lane.
var stageNames = []string{"consume", "parse", "encode", "rest"}

// stages runs urlmill once more, under the profiler, and notes what each stage takes of the CPU. The times are those of
// the profile, scaled to the median of the runs without it.
func (b *bench) stages(t *task) error {
	if t.system != "urlmill" && t.system != compact {
		return nil
	}
	file := filepath.Join(b.dir, "cpu.pprof")
	if b.profiles != "" {
		if err := os.MkdirAll(b.profiles, 0o755); err != nil {
			return err
		}
		file = filepath.Join(b.profiles, fmt.Sprintf("%s-%s-%s.pprof", t.system, strings.ReplaceAll(t.job.Kind, ":", "-"), t.job.Codec))
	}
	if _, _, err := b.once(t, file); err != nil {
		return fmt.Errorf("%s under the profiler: %w", t.system, err)
	}
	f, err := os.Open(file)
	if err != nil {
		return err
	}
	defer func() { _ = f.Close() }()
	p, err := profile.Parse(f)
	if err != nil {
		return err
	}
	sums, total := map[string]float64{}, 0.0
	for _, s := range p.Sample {
		stage := "rest"
		if labels := s.Label["stage"]; len(labels) == 1 {
			stage = labels[0]
		}
		ns := float64(s.Value[len(s.Value)-1])
		sums[stage] += ns
		total += ns
	}
	t.stages = map[string]float64{}
	for stage, ns := range sums {
		t.stages[stage] = ns / total * t.medianCPU()
	}
	return nil
}

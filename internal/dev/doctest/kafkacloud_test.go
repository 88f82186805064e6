package doctest

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/urlmill/urlmill/config"
	"github.com/urlmill/urlmill/internal/wire"
)

// TestKafkaCloud lints every configuration of docs/kafka-cloud.md.
func TestKafkaCloud(t *testing.T) {
	text, err := os.ReadFile(filepath.Join(root, "docs", "kafka-cloud.md"))
	if err != nil {
		t.Fatal(err)
	}
	n := 0
	for _, part := range strings.Split(string(text), "```yaml\n")[1:] {
		example, _, _ := strings.Cut(part, "```")
		if _, err := wire.Standard().Parse("kafka-cloud.md", []byte(example), config.OSEnv()); err != nil {
			t.Errorf("%s\n%v", example, err)
		}
		n++
	}
	if n != 7 {
		t.Errorf("%d configurations", n)
	}
}

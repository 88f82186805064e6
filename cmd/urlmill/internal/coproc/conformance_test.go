package coproc

import (
	"bufio"
	"bytes"
	"encoding/json"
	"io"
	"testing"

	"github.com/urlmill/urlmill/internal/dev/conformance"
)

// urlCase is an entry of urltestdata.json.
type urlCase struct {
	Input        string  `json:"input"`
	Base         *string `json:"base"`
	Failure      bool    `json:"failure"`
	Href         string  `json:"href"`
	Origin       *string `json:"origin"`
	Protocol     string  `json:"protocol"`
	Username     string  `json:"username"`
	Password     string  `json:"password"`
	Host         string  `json:"host"`
	Hostname     string  `json:"hostname"`
	Port         string  `json:"port"`
	Pathname     string  `json:"pathname"`
	Search       string  `json:"search"`
	SearchParams *string `json:"searchParams"`
	Hash         string  `json:"hash"`
}

// answerMembers are the members of an answer.
type answerMembers struct {
	urlCase
	Origin string      `json:"origin"`
	Params [][2]string `json:"params"`
	Error  string      `json:"error"`
}

// TestURLTestData asks for every entry of urltestdata.json.
func TestURLTestData(t *testing.T) {
	cases := conformance.Cases[urlCase](t, "urltestdata.json")
	inRead, inWrite := io.Pipe()
	go func() {
		enc := json.NewEncoder(inWrite)
		enc.SetEscapeHTML(false)
		for _, c := range cases {
			if err := enc.Encode(map[string]any{"input": c.Input, "base": c.Base}); err != nil {
				_ = inWrite.CloseWithError(err)
				return
			}
		}
		_ = inWrite.Close()
	}()
	var out bytes.Buffer
	if err := Serve(inRead, &out, Lines); err != nil {
		t.Fatal(err)
	}
	answers := bufio.NewScanner(&out)
	answers.Buffer(nil, MaxLine)
	passed := 0
	for _, c := range cases {
		if !answers.Scan() {
			t.Fatal("too few answers")
		}
		var got answerMembers
		if err := json.Unmarshal(answers.Bytes(), &got); err != nil {
			t.Fatalf("%s: %v", answers.Bytes(), err)
		}
		if problem := compare(c, got); problem != "" {
			t.Errorf("%q base %v: %s: %s", c.Input, c.Base, problem, answers.Bytes())
			continue
		}
		passed++
	}
	t.Logf("%d of %d passed", passed, len(cases))
}

func compare(c urlCase, got answerMembers) string {
	if c.Failure {
		if got.Error == "" {
			return "must fail"
		}
		return ""
	}
	origin := c.Origin
	got.SearchParams, got.urlCase.Origin, got.Input, got.Base = nil, nil, c.Input, c.Base
	c.SearchParams, c.Origin = nil, nil
	switch {
	case got.Error != "":
		return "must not fail"
	case got.urlCase != c:
		return "a getter is different"
	case origin != nil && *origin != got.Origin:
		return "the origin is different"
	}
	return ""
}

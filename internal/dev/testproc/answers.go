package testproc

import (
	"errors"
	"fmt"
	"io"
	"net/http"
	"time"
)

// AnswersOK returns nil when a server answers a GET of url with 200, and else what it does instead. No connection is kept. It
// is for [Process.Await].
func AnswersOK(url string) error {
	client := &http.Client{Timeout: 10 * time.Second, Transport: &http.Transport{DisableKeepAlives: true}}
	answer, err := client.Get(url)
	if err != nil {
		return err
	}
	_ = answer.Body.Close()
	if answer.StatusCode != http.StatusOK {
		return errors.New(answer.Status)
	}
	return nil
}

// Ask makes a request and returns the whole answer. Any status but 200 is an error, with the beginning of the answer.
func Ask(r *http.Request) ([]byte, error) {
	answer, err := http.DefaultClient.Do(r)
	if err != nil {
		return nil, err
	}
	defer func() { _ = answer.Body.Close() }()
	text, err := io.ReadAll(answer.Body)
	if err == nil && answer.StatusCode != http.StatusOK {
		err = fmt.Errorf("%s %s: %s: %.500s", r.Method, r.URL.Path, answer.Status, text)
	}
	return text, err
}

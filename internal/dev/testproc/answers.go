package testproc

import (
	"errors"
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

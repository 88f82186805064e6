package azure

import (
	"cmp"
	"context"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"

	"github.com/urlmill/urlmill/internal/objstore"
	"github.com/urlmill/urlmill/sinks/store/bucket"
)

const (
	// queueBatch is how many messages a request gets, the most that the service gives.
	queueBatch = 32
	// maxHold is the longest time that a message may be kept from others.
	maxHold = 7 * 24 * time.Hour
)

// Queue implements [objstore.Notified].
func (o *ReaderOptions) Queue() (key, name string) { return "queue", o.QueueURL }

// Validate implements [objstore.Options].
func (o *ReaderOptions) Validate() error {
	return errors.Join(o.Options.Validate(), bucket.CheckQueue("queue", o.QueueURL, "https://account.queue.core.windows.net/new-logs"))
}

// OpenQueue implements [objstore.Notified]. The queue may be in another account than the container.
func (o *ReaderOptions) OpenQueue(name string, log *slog.Logger) (objstore.Queue, error) {
	options := o.Options
	options.Options = options.WithDefaults()
	options.Log, options.Trouble = log, new(bucket.Trouble)
	u, err := url.Parse(o.QueueURL)
	if err != nil {
		return nil, err
	}
	account, _, _ := strings.Cut(u.Host, ".")
	if first, _, ok := strings.Cut(strings.Trim(u.Path, "/"), "/"); ok { // of servers other than Azure's
		account = first
	}
	sign, renew, err := signing(options, account, u.Scheme+"://")
	if err != nil {
		return nil, err
	}
	s := service
	s.Section = options.section
	q := &queue{url: strings.TrimSuffix(o.QueueURL, "/")}
	q.account, q.container, _ = strings.Cut(name, "/")
	q.Requests = bucket.Requests{
		Place: bucket.Place{Root: q.url}, Service: s, Options: options.Options, HTTP: options.HTTPClient(options.Transport), Sign: sign, Renew: renew, Fault: fault,
		Advise: adviseQueue(account, o.QueueURL, s.Section+".queue"), Role: "the role Storage Queue Data Contributor",
	}
	return q, nil
}

// adviseQueue says what to do about an error, where queues have reasons of their own.
func adviseQueue(account, queue, option string) func(op string, err error) string {
	whole := advise(account, queue, option)
	return func(op string, err error) string {
		var answer *bucket.StatusError
		switch {
		case !errors.As(err, &answer):
		case answer.Code == "QueueNotFound", answer.Code == "QueueBeingDeleted", answer.Code == "ResourceNotFound":
			return "there is no such queue: create it, or correct " + option
		case answer.Code == "InvalidUri", answer.Code == "OutOfRangeInput":
			return "this is not the URL of a queue: correct " + option
		}
		return cmp.Or(whole(op, err), "")
	}
}

// queue implements [objstore.Queue].
type queue struct {
	bucket.Requests
	account, container string
	url                string
}

// message returns the URL of a message.
func (q *queue) message(id, handle string, more url.Values) string {
	query := url.Values{"popreceipt": {handle}}
	for name, values := range more {
		query[name] = values
	}
	return q.url + "/messages/" + url.PathEscape(id) + "?" + query.Encode()
}

// Check implements [objstore.Queue]. What a message that does not exist may be asked for, all messages may.
func (q *queue) Check(ctx context.Context) error {
	_, err := q.Do(ctx, bucket.Call{Operation: "Peek Messages", Method: http.MethodGet, URL: q.url + "/messages?peekonly=true&numofmessages=1"})
	if err != nil {
		return err
	}
	none := &objstore.Message{ID: "00000000-0000-0000-0000-000000000000", Handle: "AAAAAAAAAAAAAAAA"}
	return q.Hold(ctx, []*objstore.Message{none}, 0)
}

// Receive implements [objstore.Queue].
func (q *queue) Receive(ctx context.Context, hold time.Duration) ([]*objstore.Message, error) {
	answer, err := decode[struct {
		QueueMessage []struct {
			ID         string `xml:"MessageId"`
			PopReceipt string
			Text       string `xml:"MessageText"`
		}
	}](q.Do(ctx, bucket.Call{
		Operation: "Get Messages", Method: http.MethodGet, URL: fmt.Sprintf("%s/messages?numofmessages=%d&visibilitytimeout=%s", q.url, queueBatch, seconds(hold)),
	}))
	if err != nil {
		return nil, err
	}
	messages := make([]*objstore.Message, 0, len(answer.QueueMessage))
	for _, m := range answer.QueueMessage {
		message := &objstore.Message{ID: m.ID, Handle: m.PopReceipt}
		message.Keys, message.Alien = decodeEvents(m.Text, q.account, q.container)
		messages = append(messages, message)
	}
	return messages, nil
}

func seconds(d time.Duration) string { return strconv.Itoa(int(min(d, maxHold).Seconds())) }

// gone reports whether an error says that a message is another receiver's by now, or is not there.
func gone(err error) bool {
	var answer *bucket.StatusError
	if !errors.As(err, &answer) {
		return false
	}
	switch answer.Code {
	case "MessageNotFound", "PopReceiptMismatch", "InvalidQueryParameterValue":
		return true
	}
	return false
}

// each makes a request for each message.
func (q *queue) each(messages []*objstore.Message, f func(m *objstore.Message) error) error {
	var errs []error
	for _, m := range messages {
		if err := f(m); err != nil && !gone(err) {
			errs = append(errs, err)
		}
	}
	return errors.Join(errs...)
}

// Hold implements [objstore.Queue].
func (q *queue) Hold(ctx context.Context, messages []*objstore.Message, d time.Duration) error {
	return q.each(messages, func(m *objstore.Message) error {
		a, err := q.Do(ctx, bucket.Call{
			Operation: "Update Message", Method: http.MethodPut, URL: q.message(m.ID, m.Handle, url.Values{"visibilitytimeout": {seconds(d)}}),
		})
		if err == nil {
			m.Handle = cmp.Or(a.Header.Get("x-ms-popreceipt"), m.Handle)
		}
		return err
	})
}

// Delete implements [objstore.Queue].
func (q *queue) Delete(ctx context.Context, messages []*objstore.Message) error {
	return q.each(messages, func(m *objstore.Message) error {
		_, err := q.Do(ctx, bucket.Call{Operation: "Delete Message", Method: http.MethodDelete, URL: q.message(m.ID, m.Handle, nil)})
		return err
	})
}

// event is a message of Event Grid, in its own schema or that of CloudEvents.
// https://learn.microsoft.com/azure/event-grid/event-schema-blob-storage
type event struct {
	EventType string `json:"eventType"` // of Event Grid
	Type      string `json:"type"`      // of CloudEvents
	Topic     string `json:"topic"`     // of Event Grid: the account
	Source    string `json:"source"`    // of CloudEvents: the account
	Subject   string `json:"subject"`
}

const (
	blobEvents  = "Microsoft.Storage."
	blobCreated = blobEvents + "BlobCreated"
)

// decodeEvents returns the names of the blobs of a container that a message says are new, and why it is not for readers of the
// container. A queue has its text in base64 or as it is.
func decodeEvents(text, account, container string) (keys []string, alien string) {
	content := []byte(text)
	if plain, err := base64.StdEncoding.DecodeString(text); err == nil {
		content = plain
	}
	var all []event
	if err := json.Unmarshal(content, &all); err != nil {
		var one event
		if err := json.Unmarshal(content, &one); err != nil {
			return nil, bucket.NoNotification
		}
		all = []event{one}
	}
	if len(all) == 0 {
		return nil, bucket.NoNotification
	}
	for _, e := range all {
		rest, ok := strings.CutPrefix(e.Subject, "/blobServices/default/containers/")
		of, name, named := strings.Cut(rest, "/blobs/")
		from := cmp.Or(e.Topic, e.Source)
		from = from[strings.LastIndexByte(from, '/')+1:]
		switch {
		case !strings.HasPrefix(cmp.Or(e.EventType, e.Type), blobEvents) || !ok || !named || name == "":
			alien = bucket.NoNotification
		case of != container || from != "" && !strings.EqualFold(from, account):
			alien = bucket.OtherBucket(strings.TrimPrefix(from+"/"+of, "/"))
		case cmp.Or(e.EventType, e.Type) == blobCreated:
			keys = append(keys, name)
		}
	}
	return keys, alien
}

// Command server is Google's own imitation of Pub/Sub for tests (pstest), with the REST interface in front of it as far as tests need it:
// its methods and messages are those of the gRPC interface, in the JSON of Protocol Buffers.
package main

import (
	"context"
	"flag"
	"io"
	"log"
	"net/http"
	"strings"

	"cloud.google.com/go/pubsub/v2/apiv1/pubsubpb"
	"cloud.google.com/go/pubsub/v2/pstest"
	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/credentials/insecure"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/encoding/protojson"
	"google.golang.org/protobuf/proto"
)

func main() {
	address := flag.String("listen", "127.0.0.1:8085", "address")
	flag.Parse()
	fake := pstest.NewServer()
	conn, err := grpc.NewClient(fake.Addr, grpc.WithTransportCredentials(insecure.NewCredentials()))
	if err != nil {
		log.Fatal(err)
	}
	g := gateway{pubsubpb.NewPublisherClient(conn), pubsubpb.NewSubscriberClient(conn)}
	log.Fatal(http.ListenAndServe(*address, g))
}

type gateway struct {
	topics        pubsubpb.PublisherClient
	subscriptions pubsubpb.SubscriberClient
}

// call decodes a request, makes it, and encodes the answer.
func call[I, O proto.Message](w http.ResponseWriter, r *http.Request, in I, do func(context.Context, I, ...grpc.CallOption) (O, error)) {
	body, err := io.ReadAll(r.Body)
	if err == nil && len(body) > 0 {
		err = protojson.Unmarshal(body, in)
	}
	if err != nil {
		fail(w, http.StatusBadRequest, "INVALID_ARGUMENT", err)
		return
	}
	out, err := do(r.Context(), in)
	if err != nil {
		code, text := http.StatusInternalServerError, "INTERNAL"
		switch status.Code(err) {
		case codes.NotFound:
			code, text = http.StatusNotFound, "NOT_FOUND"
		case codes.InvalidArgument:
			code, text = http.StatusBadRequest, "INVALID_ARGUMENT"
		}
		fail(w, code, text, err)
		return
	}
	answer, err := protojson.Marshal(out)
	if err != nil {
		log.Print(err)
	}
	w.Header().Set("Content-Type", "application/json")
	_, _ = w.Write(answer)
}

func fail(w http.ResponseWriter, code int, text string, err error) {
	w.WriteHeader(code)
	_, _ = io.WriteString(w, `{"error":{"status":"`+text+`","message":"`+strings.ReplaceAll(err.Error(), `"`, "'")+`"}}`)
}

// ServeHTTP implements [http.Handler].
func (g gateway) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	name, action, _ := strings.Cut(strings.TrimPrefix(r.URL.Path, "/v1/"), ":")
	topic := strings.Contains(name, "/topics/")
	switch {
	case r.Method == http.MethodPut && topic:
		call(w, r, &pubsubpb.Topic{Name: name}, func(ctx context.Context, t *pubsubpb.Topic, o ...grpc.CallOption) (*pubsubpb.Topic, error) {
			t.Name = name
			return g.topics.CreateTopic(ctx, t, o...)
		})
	case r.Method == http.MethodPut:
		call(w, r, &pubsubpb.Subscription{}, func(ctx context.Context, s *pubsubpb.Subscription, o ...grpc.CallOption) (*pubsubpb.Subscription, error) {
			s.Name = name
			return g.subscriptions.CreateSubscription(ctx, s, o...)
		})
	case r.Method == http.MethodDelete:
		call(w, r, &pubsubpb.DeleteSubscriptionRequest{Subscription: name}, g.subscriptions.DeleteSubscription)
	case action == "publish":
		call(w, r, &pubsubpb.PublishRequest{}, func(ctx context.Context, p *pubsubpb.PublishRequest, o ...grpc.CallOption) (*pubsubpb.PublishResponse, error) {
			p.Topic = name
			return g.topics.Publish(ctx, p, o...)
		})
	case action == "pull":
		call(w, r, &pubsubpb.PullRequest{}, func(ctx context.Context, p *pubsubpb.PullRequest, o ...grpc.CallOption) (*pubsubpb.PullResponse, error) {
			p.Subscription = name
			return g.subscriptions.Pull(ctx, p, o...)
		})
	case action == "acknowledge":
		call(w, r, &pubsubpb.AcknowledgeRequest{}, func(ctx context.Context, a *pubsubpb.AcknowledgeRequest, o ...grpc.CallOption) (proto.Message, error) {
			a.Subscription = name
			return g.subscriptions.Acknowledge(ctx, a, o...)
		})
	case action == "modifyAckDeadline":
		call(w, r, &pubsubpb.ModifyAckDeadlineRequest{}, func(ctx context.Context, m *pubsubpb.ModifyAckDeadlineRequest, o ...grpc.CallOption) (proto.Message, error) {
			m.Subscription = name
			return g.subscriptions.ModifyAckDeadline(ctx, m, o...)
		})
	default:
		w.WriteHeader(http.StatusNotImplemented)
	}
}

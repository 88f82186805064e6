package kafkatest

import (
	"fmt"
	"maps"
	"path/filepath"
	"slices"
	"strings"
)

// Options describes the cluster of [Start]. The zero value is one broker with a plain-text listener.
type Options struct {
	// Brokers is the number of brokers, 1 if zero. The first one is also the controller.
	Brokers int
	// Racks are where the brokers say that they are, by which their replicas are chosen for readers that say it, too.
	Racks []string
	// Properties are added to server.properties of every broker, over what it has otherwise.
	Properties map[string]string
	// Users, when there are any, may log in with PLAIN, SCRAM-SHA-256 and SCRAM-SHA-512 at the listener of
	// [Cluster.SASLAddr], and over TLS at that of [Cluster.SASLTLSAddr] if TLS is set too.
	Users []User
	// Tokens, when it is not nil, asks for OAUTHBEARER at the listeners for Users, or at one of its own; it has the options of
	// Kafka's validator of tokens without a signature, such as unsecuredValidatorRequiredScope.
	Tokens map[string]string
	// Proxy asks for a plain-text listener at every broker behind a [Proxy], see [Cluster.ProxyAddrs] and
	// [Broker.Proxy].
	Proxy bool
	// Heap is the largest heap of each broker's Java, as its option -Xmx has it. Default "512m".
	Heap string
	// TLS asks for the listener of [Cluster.TLSAddr], whose certificate [Cluster.CAFile] verifies.
	TLS bool
}

// User may log in at the listeners that ask for it. Kafka's tools take no quotes, backslashes and commas.
type User struct{ Name, Password string }

// listener names one port of a broker.
type listener struct{ name, protocol string }

var (
	plain   = listener{"PLAINTEXT", "PLAINTEXT"}
	control = listener{"CONTROLLER", "PLAINTEXT"}
	secure  = listener{"TLS", "SSL"}
	login   = listener{"SASL", "SASL_PLAINTEXT"}
	proxied = listener{"PROXIED", "PLAINTEXT"}
	both    = listener{"SASLTLS", "SASL_SSL"}
)

// listeners lists the ports of a broker without the controller's.
func (o Options) listeners() []listener {
	l := []listener{plain}
	if o.TLS {
		l = append(l, secure)
	}
	if o.logins() {
		l = append(l, login)
	}
	if o.TLS && o.logins() {
		l = append(l, both)
	}
	if o.Proxy {
		l = append(l, proxied)
	}
	return l
}

// logins reports whether there are listeners that ask for a login.
func (o Options) logins() bool { return len(o.Users) > 0 || o.Tokens != nil }

// fixedProperties are those of every broker: one small machine runs several of these beside the tests.
var fixedProperties = map[string]string{
	"num.network.threads":                  "2",
	"num.io.threads":                       "4",
	"background.threads":                   "2",
	"log.cleaner.threads":                  "1",
	"log.cleaner.backoff.ms":               "200",
	"log.cleaner.dedupe.buffer.size":       "4194304",
	"offsets.topic.num.partitions":         "4",
	"transaction.state.log.num.partitions": "2",

	"offsets.topic.replication.factor":                 "1",
	"transaction.state.log.replication.factor":         "1",
	"transaction.state.log.min.isr":                    "1",
	"share.coordinator.state.topic.replication.factor": "1",
	"share.coordinator.state.topic.min.isr":            "1",

	// A broker that was killed is let in again only after the session of its former life. But one that a busy
	// machine holds up for longer than the session loses its partitions for a moment.
	"broker.session.timeout.ms":    "5000",
	"broker.heartbeat.interval.ms": "500",

	"auto.create.topics.enable":            "false",
	"group.initial.rebalance.delay.ms":     "0",
	"group.min.session.timeout.ms":         "500",
	"controlled.shutdown.max.retries":      "1",
	"controlled.shutdown.retry.backoff.ms": "200",
}

// properties returns the text of the server.properties of b.
func (c *Cluster) properties(b *Broker) string {
	p := map[string]string{
		"node.id":                    fmt.Sprint(b.id),
		"process.roles":              "broker",
		"controller.quorum.voters":   "1@" + c.controller,
		"controller.listener.names":  control.name,
		"inter.broker.listener.name": plain.name,
		"log.dirs":                   filepath.Join(b.dir, "data"),
	}
	maps.Copy(p, fixedProperties)
	var listen, advertise, protocols []string
	for _, l := range c.opts.listeners() {
		listen = append(listen, l.name+"://"+b.addrs[l.name])
		if l == proxied {
			advertise = append(advertise, l.name+"://"+b.proxy.Addr())
		} else {
			advertise = append(advertise, l.name+"://"+b.addrs[l.name])
		}
		protocols = append(protocols, l.name+":"+l.protocol)
	}
	if b.id == 1 {
		p["process.roles"] = "broker,controller"
		listen = append(listen, control.name+"://"+c.controller)
	}
	p["listeners"] = strings.Join(listen, ",")
	p["advertised.listeners"] = strings.Join(advertise, ",")
	p["listener.security.protocol.map"] = strings.Join(append(protocols, control.name+":"+control.protocol), ",")
	if len(c.opts.Racks) > 0 {
		p["broker.rack"] = c.opts.Racks[b.id-1]
		p["replica.selector.class"] = "org.apache.kafka.common.replica.RackAwareReplicaSelector"
	}
	if c.opts.TLS {
		p["ssl.keystore.type"] = "PEM"
		p["ssl.keystore.location"] = filepath.Join(c.dir, keyStoreFile)
		p["ssl.client.auth"] = "none"
	}
	if c.opts.logins() {
		c.saslProperties(p)
	}
	maps.Copy(p, c.opts.Properties)
	var text strings.Builder
	for _, key := range slices.Sorted(maps.Keys(p)) {
		fmt.Fprintf(&text, "%s=%s\n", key, strings.ReplaceAll(p[key], `\`, `\\`))
	}
	return text.String()
}

func (c *Cluster) saslProperties(p map[string]string) {
	p["sasl.enabled.mechanisms"] = "PLAIN,SCRAM-SHA-256,SCRAM-SHA-512"
	var users strings.Builder
	for _, u := range c.opts.Users {
		fmt.Fprintf(&users, " user_%s=%q", u.Name, u.Password)
	}
	for _, l := range []listener{login, both} {
		prefix := "listener.name." + strings.ToLower(l.name) + "."
		p[prefix+"plain.sasl.jaas.config"] = "org.apache.kafka.common.security.plain.PlainLoginModule required" + users.String() + ";"
		if c.opts.Tokens != nil {
			p["sasl.enabled.mechanisms"] = "PLAIN,SCRAM-SHA-256,SCRAM-SHA-512,OAUTHBEARER"
			var options strings.Builder
			options.WriteString(` unsecuredLoginStringClaim_sub="broker"`) // of the login module as a client, without which it does not start
			for _, name := range slices.Sorted(maps.Keys(c.opts.Tokens)) {
				fmt.Fprintf(&options, " %s=%q", name, c.opts.Tokens[name])
			}
			p[prefix+"oauthbearer.sasl.jaas.config"] = "org.apache.kafka.common.security.oauthbearer.OAuthBearerLoginModule required" + options.String() + ";"
		}
		for _, mechanism := range []string{"scram-sha-256", "scram-sha-512"} {
			p[prefix+mechanism+".sasl.jaas.config"] = "org.apache.kafka.common.security.scram.ScramLoginModule required;"
		}
	}
}

// formatArgs returns what the storage tool is told beyond the cluster's id and the properties.
func (o Options) formatArgs() []string {
	var args []string
	for _, u := range o.Users {
		for _, mechanism := range []string{"SCRAM-SHA-256", "SCRAM-SHA-512"} {
			args = append(args, "--add-scram", fmt.Sprintf("%s=[name=%q,password=%q]", mechanism, u.Name, u.Password))
		}
	}
	return args
}

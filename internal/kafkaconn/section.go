package kafkaconn

import (
	"maps"
	"time"

	"github.com/urlmill/urlmill/config"
)

// Section returns the section that t is bound to.
func (t *TLS) Section() config.Section {
	s := t.Certificates()
	s.Fields = append([]config.Field{{Name: "enabled", Doc: "Whether connections are encrypted.", Value: config.Bool(&t.Enabled)}}, s.Fields...)
	return s
}

// Certificates returns the section without its switch, for URLs, which say themselves whether connections are encrypted.
func (t *TLS) Certificates() config.Section {
	return config.Section{Fields: []config.Field{
		{Name: "ca_file", Doc: "Certificates (PEM) that the other side's are signed by. Not set: those of the system.", Value: config.Text(&t.CAFile, "/etc/urlmill/ca.pem")},
		{Name: "cert_file", Doc: "Certificate (PEM) to show; needs key_file.", Value: config.Text(&t.CertFile, "/etc/urlmill/client.pem")},
		{Name: "key_file", Doc: "Key (PEM) of cert_file.", Value: config.Text(&t.KeyFile, "/etc/urlmill/client.key")},
		{Name: "server_name", Doc: "Name in the other side's certificates, when it is not the one that they are reached by.", Value: config.Text(&t.ServerName, "kafka.example.com")},
		{Name: "insecure_skip_verify", Doc: "Whether certificates are taken unseen. For tests alone.", Value: config.Bool(&t.InsecureSkipVerify)},
	}}
}

// Section returns the section that s is bound to. It may be left out; see [config.Given].
func (s *SASL) Section() config.Section {
	return config.Section{Fields: []config.Field{
		{Name: "mechanism", Doc: "How the client proves who it is.", Value: config.Names(&s.Mechanism, mechanisms...), Example: "mechanism: " + MechanismScramSHA512},
		{Name: "username", Doc: "Who logs in, with plain and scram.", Value: config.Text(&s.Username, "urlmill")},
		{Name: "password", Doc: "The password, with plain and scram; it is never printed. Best from a variable or a file.", Value: config.SecretText(&s.Password)},
		{Name: "oauth", Doc: "Where tokens come from, with oauthbearer.", Value: config.Optional(&s.OAuth, func() OAuth { return OAuth{} }, (*OAuth).Section)},
		{Name: "aws_region", Doc: "Region of the brokers, with aws-msk-iam. Not set: that of AWS_REGION or of the shared configuration files.", Value: config.Text(&s.AWSRegion, "eu-central-1")},
		{Name: "aws_profile", Doc: "Profile of AWS's shared configuration files, with aws-msk-iam. Not set: that of AWS_PROFILE, or the default.", Value: config.Text(&s.AWSProfile, "kafka")},
	}}
}

// Aliases returns the names that Kafka's own clients have for what is said here of connections, together with those of own.
func Aliases(own map[string]string) map[string]string {
	all := map[string]string{
		"bootstrap.servers": "brokers", "bootstrap.server": "brokers", "metadata.broker.list": "brokers", "broker.list": "brokers",
		"servers": "brokers", "hosts": "brokers", "seed.brokers": "brokers", "addresses": "brokers",
		"security.protocol": "tls and sasl", "ssl": "tls",
		"ssl.ca.location": "tls.ca_file", "ssl.cafile": "tls.ca_file", "ssl.truststore.location": "tls.ca_file",
		"ssl.certificate.location": "tls.cert_file", "ssl.certfile": "tls.cert_file", "ssl.keystore.location": "tls.cert_file",
		"ssl.key.location": "tls.key_file", "ssl.keyfile": "tls.key_file",
		"sasl.mechanism": "sasl.mechanism", "sasl.mechanisms": "sasl.mechanism",
		"sasl.username": "sasl.username", "sasl.plain.username": "sasl.username",
		"sasl.password": "sasl.password", "sasl.plain.password": "sasl.password",
		"sasl.jaas.config":                    "sasl",
		"sasl.oauthbearer.token.endpoint.url": "sasl.oauth.token_url", "sasl.oauthbearer.client.id": "sasl.oauth.client_id",
		"sasl.oauthbearer.client.secret": "sasl.oauth.client_secret", "sasl.oauthbearer.scope": "sasl.oauth.scopes",
		"sasl.oauthbearer.extensions":        "sasl.oauth.extensions",
		"socket.connection.setup.timeout.ms": "dial_timeout",
	}
	maps.Copy(all, own)
	return all
}

// Brokers returns the field of addresses.
func Brokers(p *[]string) config.Field {
	return config.Field{Name: "brokers", Doc: "Addresses of brokers to begin with; the others are learned from them. A topic to write to takes those of source.kafka when they are left out.", Value: config.Texts(p, "[kafka-1:9092, kafka-2:9092]")}
}

// ClientID returns the field of the client's name.
func ClientID(p *string) config.Field {
	return config.Field{Name: "client_id", Doc: "What brokers call this client in their logs and quotas.", Value: config.Text(p, DefaultClientID)}
}

// DialTimeout returns the field of how long connecting may take.
func DialTimeout(p *time.Duration) config.Field {
	return config.Field{Name: "dial_timeout", Doc: "How long connecting to a broker may take.", Value: config.Duration(p, 100*time.Millisecond, time.Hour)}
}

// Security returns the fields tls and sasl.
func Security(t *TLS, s *SASL) []config.Field {
	return []config.Field{
		{Name: "tls", Doc: "Encryption of the connections to brokers.", Value: config.Map(t.Section())},
		{Name: "sasl", Doc: "How to log in at brokers.", Value: config.Given(s, func() SASL { return SASL{} }, (*SASL).Section)},
	}
}

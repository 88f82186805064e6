package schemaregistry

import (
	"time"

	"github.com/urlmill/urlmill/config"
)

// Defaults returns the options of which nothing is said.
func Defaults() Options { return Options{Timeout: 10 * time.Second} }

// Section returns the section that o is bound to.
func (o *Options) Section() config.Section {
	return config.Section{Fields: []config.Field{
		{Name: "urls", Doc: "Where it is; of several the next is asked when one cannot be reached.", Value: config.Texts(&o.URLs, "[http://localhost:8081]"), Example: "urls: [http://localhost:8081]"},
		{Name: "username", Doc: "Who logs in.", Value: config.Text(&o.Username, "urlmill")},
		{Name: "password", Doc: "The password; it is never printed. Best from a variable or a file.", Value: config.SecretText(&o.Password)},
		{Name: "token", Doc: "A bearer token to log in with.", Value: config.SecretText(&o.Token)},
		{Name: "tls", Doc: "Certificates, for URLs with https.", Value: config.Map(o.TLS.Certificates())},
		{Name: "timeout", Doc: "How long a request may take.", Value: config.Duration(&o.Timeout, time.Millisecond, time.Hour)},
	}}
}

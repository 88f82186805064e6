package kafkaconn

import (
	"maps"
	"net/url"
	"regexp"
	"slices"

	"github.com/urlmill/urlmill/config"
	"github.com/urlmill/urlmill/pipeline"
)

// OAuth says where the tokens of [MechanismOAuthBearer] come from: one of TokenURL, TokenFile and TokenCommand.
type OAuth struct {
	// TokenURL is where an identity provider gives tokens to clients that prove who they are (RFC 6749, section 4.4).
	TokenURL     string
	ClientID     string
	ClientSecret config.Secret
	Scopes       []string
	// TokenFile is read for every connection: another program renews it.
	TokenFile string
	// TokenCommand is a program, with its arguments, that prints a token. No shell reads it.
	TokenCommand []string
	// Extensions go to the brokers beside the token.
	Extensions map[string]string
}

const (
	tokenURLKey, tokenFileKey, tokenCommandKey = "token_url", "token_file", "token_command"
	clientIDKey, clientSecretKey, scopesKey    = "client_id", "client_secret", "scopes"
)

// Section returns the section that o is bound to.
func (o *OAuth) Section() config.Section {
	return config.Section{
		OneOf: []string{tokenURLKey, tokenFileKey, tokenCommandKey},
		Fields: []config.Field{
			{Name: tokenURLKey, Doc: "Where an identity provider gives tokens for client_id and client_secret.", Value: config.Text(&o.TokenURL, "https://login.example.com/oauth2/token")},
			{Name: clientIDKey, Doc: "Who asks at token_url.", Value: config.Text(&o.ClientID, "urlmill")},
			{Name: clientSecretKey, Doc: "The secret of client_id; it is never printed. Best from a variable or a file.", Value: config.SecretText(&o.ClientSecret)},
			{Name: scopesKey, Doc: "What the token of token_url is to be good for.", Value: config.Texts(&o.Scopes, "[kafka]")},
			{Name: tokenFileKey, Doc: "File with a token that another program renews. It is read for every login.", Value: config.Text(&o.TokenFile, "/var/run/secrets/kafka/token")},
			{Name: tokenCommandKey, Doc: "Program, with its arguments, that prints a token. It runs without a shell, and has dial_timeout.", Value: config.Texts(&o.TokenCommand, "[kafka-token, --audience, clicks]")},
			{Name: "extensions", Doc: "What goes to the brokers beside the token, such as logicalCluster for Confluent Cloud.", Value: config.Pairs(&o.Extensions, "a text", "{logicalCluster: lkc-1}")},
		},
		Aliases: map[string]string{
			"sasl.oauthbearer.token.endpoint.url": tokenURLKey, "token.endpoint": tokenURLKey, "token.endpoint.url": tokenURLKey, "url": tokenURLKey,
			"scope": scopesKey, "file": tokenFileKey, "command": tokenCommandKey,
		},
	}
}

var (
	extensionName  = regexp.MustCompile(`^[A-Za-z]+$`)
	extensionValue = regexp.MustCompile(`^[\x20-\x7e]+$`)
)

// validate adds what is wrong with o, whose section is sasl.oauth.
func (o *OAuth) validate(p *pipeline.Problems) {
	const at = "sasl.oauth."
	given := 0
	for _, is := range []bool{o.TokenURL != "", o.TokenFile != "", len(o.TokenCommand) > 0} {
		if is {
			given++
		}
	}
	if given != 1 {
		p.Add("sasl.oauth", "has %d of token_url, token_file and token_command", given).Advise("give one of them")
	}
	if o.TokenURL != "" {
		if problem := tokenURLProblem(o.TokenURL); problem != "" {
			p.Add(at+tokenURLKey, "%s", problem).Advise("give an address such as https://login.example.com/oauth2/token")
		}
		if o.ClientID == "" {
			p.Add(at+clientIDKey, "empty; token_url needs one")
		}
	} else if given == 1 {
		for key, is := range map[string]bool{clientIDKey: o.ClientID != "", clientSecretKey: o.ClientSecret != "", scopesKey: len(o.Scopes) > 0} {
			if is {
				p.Add(at+key, "has no effect without token_url")
			}
		}
	}
	if len(o.TokenCommand) > 0 && o.TokenCommand[0] == "" {
		p.Add(at+tokenCommandKey, "begins with an empty name").Advise("give a program and its arguments")
	}
	for _, name := range slices.Sorted(maps.Keys(o.Extensions)) {
		switch {
		case !extensionName.MatchString(name) || name == "auth":
			p.Value(at+"extensions", name, "is no name of an extension: those have letters alone, and are not auth")
		case !extensionValue.MatchString(o.Extensions[name]):
			p.Add(at+"extensions."+name, "is empty, or has other characters than those of ASCII that are printed")
		}
	}
}

// tokenURLProblem returns what is wrong with the address of an identity provider, "" if nothing is. It shows nothing of it, since
// it may come from a variable.
func tokenURLProblem(text string) string {
	u, err := url.Parse(text)
	switch {
	case err != nil || u.Hostname() == "" || u.Scheme != "https" && u.Scheme != "http":
		return "is no URL with https"
	case u.User != nil:
		return "has a user before its host: those are client_id and client_secret"
	case u.Fragment != "":
		return "has a fragment"
	case u.Scheme == "http" && !config.Loopback(u.Hostname()):
		return "has http, by which the secret and the token could be read on the way; on this machine alone it may"
	}
	return ""
}

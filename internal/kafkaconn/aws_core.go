//go:build core

package kafkaconn

import (
	"context"
	"errors"
)

// awsFetcher returns what says that this build has nothing of AWS, which is much to compile.
func awsFetcher(SASL) func(context.Context) (token, error) {
	return func(context.Context) (token, error) {
		return token{}, &FatalError{errors.New("this build has no " + MechanismAWS), "build it without the tag core"}
	}
}

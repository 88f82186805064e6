// Package kafkaconn has what a Kafka source and a Kafka sink have in common: how connections are made, encrypted and logged
// in, how a request that failed is repeated, and what to do about the errors that repeating does not cure.
//
//	options.go   what can be set; problems.go says what is wrong with it
//	oauth.go     tokens: what can be set; token.go and aws.go get them, bearer.go shows them
//	dialer.go    connections
//	guard.go     answers are held back until they are known to be no more than they are, and logins are made again before they end;
//	             layout.go says what answers have
//	diagnose.go  what kind of listener hung up on us
//	topics.go    the topics that there are, and those that are missing
//	advice.go    errors that need a person, and what to do about them
//	retry.go     everything else: pauses, and patience with what is missing
package kafkaconn

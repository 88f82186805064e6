// Package facts says what was produced, and what a row of it has to hold, from what the producer knows.
//
// A record is a function of its partition and its number, so that nothing has to be kept of it but where the broker has put
// it. Its URL is of one of several shapes with the record's name in it, "p/i". What a row of that shape holds is written down
// beside the shape, or asked of urlcore's state machine once for each shape; the batch engine, which made the rows, has no part
// in it.
package facts

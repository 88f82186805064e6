// Package pipeline moves records from sources through a transform into sinks, in order within a lane, and
// acknowledges a record only after it is durable.
//
//	Source.Run -> Lane.Next(batch) -> Transform.Apply(batch) -> Writer.Write -> Writer.Commit
//	                 ^                                                               |
//	                 +----------------- Lane.Acknowledge(next) ----------------------+
//
// It knows Arrow but neither Kafka nor Parquet: sources and sinks implement its interfaces and never see
// each other.
package pipeline

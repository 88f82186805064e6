package wire

import (
	"github.com/urlmill/urlmill/internal/settings"
	"github.com/urlmill/urlmill/pipeline"
	"github.com/urlmill/urlmill/sinks/store"
	"github.com/urlmill/urlmill/sinks/store/s3"
)

// OpenStores returns what opens the folders of sinks: directories, and places on S3 with the given settings.
func OpenStores(c settings.S3) store.Opener { return s3.Opener(s3Options(c)) }

func s3Options(c settings.S3) s3.Options {
	return s3.Options{
		Endpoint: c.Endpoint, Region: c.Region, Addressing: c.Addressing, Profile: c.Profile,
		Encryption: c.Encryption, KMSKey: c.KMSKey, StorageClass: c.StorageClass, Checksum: c.Checksum,
		PartSize: c.PartSize, Parallel: c.Parallel, Attempts: c.Attempts, Timeout: c.Timeout,
	}
}

// stores returns what opens the folders of the sink of c.
func (s Setting) stores(c *settings.Config) store.Opener {
	if s.Stores != nil {
		return s.Stores
	}
	options := s3Options(c.Sink.S3)
	options.Trouble, options.Log = s.trouble, s.Log
	return s3.Opener(options)
}

// SinkTrouble is what is known of requests of the sink that fail and are tried again, which are those to S3.
func (j *Job) SinkTrouble() *s3.Trouble { return j.trouble }

// checkPlaces returns what is wrong with folders that are on S3.
func checkPlaces(path, deadLetters, late string) error {
	var p pipeline.Problems
	for _, place := range []struct{ key, location string }{{"path", path}, {"dead_letters", deadLetters}, {"late.path", late}} {
		if !s3.IsLocation(place.location) {
			continue
		}
		_, _, err := s3.ParseLocation(place.location)
		p.Join(pipeline.Under(place.key, err))
	}
	return p.Err()
}

package budget

import "fmt"

const (
	mib = 1 << 20
	// idle is what a process takes besides its code, whatever it does: a thousand connections and lanes that have nothing
	// to do, the runtime.
	idle = 16 * mib
	// outside is the part of it that Go does not count: its variables, stacks of the system.
	outside = 12 * mib
	// perWorker is what a worker needs besides: codecs with their windows, pages being encoded.
	perWorker = 12 * mib
	// live is the part of the rest that may be in use, in percent. The remainder is what the garbage collector needs to
	// let things lie for a while.
	live = 50
	// perBatchByte is how much memory a batch takes with its columns for each byte that it may have, as measured with
	// URLs of 45 to 90 bytes, all columns.
	perBatchByte = 9

	leastBatch = 256 << 10
	leastFetch = 8 * mib
	leastFiles = 20 * mib
	mostFetch  = 256 * mib
)

// Needs is what memory is needed for. BatchBytes and Fetch are 0 where they are to be found.
type Needs struct {
	Workers    int
	Code       int64 // the executable, as far as it can be in memory: the pages that processes share
	BatchBytes int   // pipeline.Options.BatchBytes
	UsualBatch int   // BatchBytes where there is enough
	Fetches    bool  // whether the source has a use for Fetch
	Fetch      int64 // for what is fetched and not read yet
	Fixed      int64 // what sources and sinks hold besides, whatever they are given
}

// Shares is how a limit is divided.
type Shares struct {
	// Go is the limit for Go's runtime, as debug.SetMemoryLimit takes it.
	Go int64
	// Batches, BatchBytes and BatchMemory are those of pipeline.Options.
	Batches     int
	BatchBytes  int
	BatchMemory int64
	// Fetch is for what is fetched and not read yet.
	Fetch int64
	// Files is for the open files of sinks: the limit of their [Ledger].
	Files int64
}

// TooSmallError says that a limit is too small.
type TooSmallError struct{ Limit, Least int64 }

func (e *TooSmallError) Error() string {
	return fmt.Sprintf("%d MiB are too little; at least %d MiB are needed", e.Limit/mib, e.Least/mib)
}

// Least returns the smallest limit that Divide takes.
func Least(n Needs) int64 {
	least := n.fixed() + (n.leastBatches()+n.leastFetch()+leastFiles)*100/live
	return (least + mib - 1) / mib * mib
}

func (n Needs) fixed() int64 { return n.Code + idle + int64(n.Workers)*perWorker + n.Fixed }

// slots is how many batches there have to be so that no worker waits: one for each, one being read, one being written.
func (n Needs) slots() int { return n.Workers + 2 }

func (n Needs) leastBatches() int64 {
	size := n.BatchBytes
	if size == 0 {
		size = leastBatch
	}
	return int64(n.slots()) * perBatchByte * int64(size)
}

func (n Needs) leastFetch() int64 {
	if n.Fetch > 0 || !n.Fetches {
		return n.Fetch
	}
	return leastFetch
}

// Divide divides a limit for the whole process. The error is a [*TooSmallError].
func Divide(limit int64, n Needs) (Shares, error) {
	if least := Least(n); limit < least {
		return Shares{}, &TooSmallError{limit, least}
	}
	usable := (limit - n.fixed()) / 100 * live
	s := Shares{Go: limit - n.Code - outside, BatchBytes: n.BatchBytes, Fetch: n.Fetch}
	batches := max(min(usable*35/100, usable-n.leastFetch()-leastFiles), n.leastBatches())
	if s.BatchBytes == 0 {
		s.BatchBytes = int(min(int64(n.UsualBatch), batches/int64(n.slots()*perBatchByte)))
	}
	s.BatchMemory = perBatchByte * int64(s.BatchBytes)
	s.Batches = int(min(max(batches/s.BatchMemory, int64(n.slots())), int64(8+4*n.Workers)))
	usable -= int64(s.Batches) * s.BatchMemory
	if n.Fetches && s.Fetch == 0 {
		s.Fetch = max(leastFetch, min(mostFetch, usable*30/100, usable-leastFiles))
	}
	s.Files = usable - s.Fetch
	return s, nil
}

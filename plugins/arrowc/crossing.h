/* What the library with -tags crossing and test/crossing.c tell each other. */
#ifndef URLMILL_CROSSING_H
#define URLMILL_CROSSING_H

#include <stdint.h>

/* cost is the CPU time of a thread, and what it has run outside of the kernel; 0 where that cannot be counted. */
struct cost {
	int64_t nanoseconds, cycles, instructions;
};

/* counted is what a read of a file of counters gives. */
struct counted {
	int64_t counters, cycles, instructions;
};

typedef void (*urlmill_run)(void *);

static inline void urlmill_call(urlmill_run run, void *arg) { run(arg); }

#endif

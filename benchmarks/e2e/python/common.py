"""What the Python programs of the benchmark share."""

import resource
import time


class Meter:
    """Measures from its making to the outcome."""

    def __init__(self):
        self.cpu, self.start = self._cpu(), time.monotonic()

    @staticmethod
    def _cpu():
        usage = resource.getrusage(resource.RUSAGE_SELF)
        return usage.ru_utime + usage.ru_stime

    def outcome(self, version):
        seconds, cpu = time.monotonic() - self.start, self._cpu() - self.cpu
        with open("/proc/self/status") as text:
            status = dict(line.split(":", 1) for line in text)
        return {"seconds": seconds, "cpu": cpu, "rss": int(status["VmHWM"].split()[0]) * 1024 / 1e6, "version": version}

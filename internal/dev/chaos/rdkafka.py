"""Produces records by librdkafka, as it is told on standard input, and says where the broker has put them.

A command is a line of JSON, {"do": "produce" | "begin" | "commit" | "abort", "by": name, ...}. The name of a producer is
"plain" or "transactional", a colon, and how it compresses. After "produce" with "count" come so many records: partition, time in
milliseconds, and the lengths of value, key (-1 is none) and headers' JSON, then these. The answer to every command is a line of
JSON, to "produce" with the runs of offsets, [[partition, first offset, count], ...], in the order of each partition.
"""

import base64
import json
import struct
import sys

from confluent_kafka import Producer

HEADER = struct.Struct(">iqiii")


def main(brokers, topic, name):
    producers = {}
    commands, answers = sys.stdin.buffer, sys.stdout

    def producer(by):
        if by not in producers:
            kind, _, codec = by.partition(":")
            options = {
                "bootstrap.servers": brokers,
                "enable.idempotence": True,
                "compression.type": codec,
                "linger.ms": 5,
                "queue.buffering.max.messages": 1000000,
            }
            if kind == "transactional":
                options["transactional.id"] = name + "-" + codec
            producers[by] = Producer(options)
            if kind == "transactional":
                producers[by].init_transactions(60)
        return producers[by]

    for line in iter(commands.readline, b""):
        command = json.loads(line)
        by = producer(command["by"])
        answer = {}
        if command["do"] == "begin":
            by.begin_transaction()
        elif command["do"] == "commit":
            by.commit_transaction(120)
        elif command["do"] == "abort":
            by.abort_transaction(120)
        else:
            answer["runs"] = produce(by, topic, commands, command["count"])
        answers.write(json.dumps(answer) + "\n")
        answers.flush()


def produce(by, topic, records, count):
    runs = {}

    def delivered(error, message):
        if error is not None:
            raise SystemExit(f"producing: {error}")
        of = runs.setdefault(message.partition(), [])
        if of and of[-1][1] + of[-1][2] == message.offset():
            of[-1][2] += 1
        else:
            of.append([message.partition(), message.offset(), 1])

    for _ in range(count):
        partition, at, value, key, headers = HEADER.unpack(records.read(HEADER.size))
        value = records.read(value)
        key = records.read(key) if key >= 0 else None
        headers = [
            (name, None if text is None else base64.b64decode(text)) for name, text in json.loads(records.read(headers))
        ]
        by.produce(topic, value, key, partition, on_delivery=delivered, timestamp=at, headers=headers)
        by.poll(0)
    if by.flush(120) != 0:
        raise SystemExit("not everything is acknowledged in two minutes")
    return [run for of in runs.values() for run in of]


if __name__ == "__main__":
    main(*sys.argv[1:])

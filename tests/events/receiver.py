#!/usr/bin/env python3
"""receiver.py redis|rabbitmq|nats PORT [naive] - a receiver of events behind a broker, to try the examples on.

Handles each event once, by its id, in one transaction with its effect; `naive` handles every delivery.
References that begin with `fail-once` fail the first try before the effect, `fail-after` after it.
GET /effects?reference=R shows what was done. Needs redis, pika or nats-py; the brokers' ports are in
REDIS_PORT, AMQP_URL and NATS_PORT.
"""

import asyncio
import http.server
import json
import os
import sqlite3
import sys
import threading
import urllib.parse

KIND, PORT, NAIVE = sys.argv[1], int(sys.argv[2]), "naive" in sys.argv[3:]
LOCK = threading.Lock()
STORE = sqlite3.connect(":memory:", check_same_thread=False, isolation_level=None)
STORE.executescript(
    "CREATE TABLE seen (id TEXT PRIMARY KEY); CREATE TABLE effects (id TEXT, reference TEXT);"
    "CREATE TABLE state (reference TEXT PRIMARY KEY, version INT, status TEXT);"
)
FAILED = set()


class Failed(Exception):
    """The event is to be delivered again."""


def handle(body):
    """One event; raises Failed where it must come again."""
    event = json.loads(body)
    data = event["data"]
    reference = data["reference"]
    with LOCK:
        fails = reference.startswith("fail-") and reference not in FAILED
        FAILED.add(reference)
        STORE.execute("BEGIN")
        try:
            if not NAIVE:
                if "id" not in event:
                    return
                new = STORE.execute("INSERT OR IGNORE INTO seen VALUES (?)", (event["id"],)).rowcount
                if not new:
                    return
            if fails and reference.startswith("fail-once"):
                raise Failed
            STORE.execute("INSERT INTO effects VALUES (?, ?)", (event.get("id"), reference))
            STORE.execute(
                "INSERT INTO state VALUES (?, ?, ?) ON CONFLICT (reference) DO UPDATE SET"
                " version = excluded.version, status = excluded.status WHERE version < excluded.version",
                (reference, data["version"], data["status"]),
            )
            if fails:
                raise Failed
        except Failed:
            STORE.execute("COMMIT" if NAIVE else "ROLLBACK")
            raise
        finally:
            if STORE.in_transaction:
                STORE.execute("COMMIT")


class Shown(http.server.BaseHTTPRequestHandler):
    def do_GET(self):
        query = urllib.parse.parse_qs(urllib.parse.urlsplit(self.path).query)
        reference = (query.get("reference") or [""])[0]
        with LOCK:
            ids = STORE.execute("SELECT id FROM effects WHERE reference = ?", (reference,)).fetchall()
            state = STORE.execute(
                "SELECT version, status FROM state WHERE reference = ?", (reference,)
            ).fetchone()
        shown = {"data": [row[0] for row in ids], "state": state and {"version": state[0], "status": state[1]}}
        body = json.dumps(shown).encode()
        self.send_response(200)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_):
        pass


def from_redis():
    import redis

    broker = redis.Redis(port=int(os.environ.get("REDIS_PORT", "6379")))
    try:
        broker.xgroup_create("events", "receivers", id="0", mkstream=True)
    except redis.ResponseError:
        pass
    while True:
        again = broker.xautoclaim("events", "receivers", "one", min_idle_time=500, count=10)[1]
        new = broker.xreadgroup("receivers", "one", {"events": ">"}, count=10, block=200)
        for number, fields in again + (new[0][1] if new else []):
            try:
                handle(fields[b"body"])
                broker.xack("events", "receivers", number)
            except Failed:
                pass


def from_rabbitmq():
    import pika

    broker = pika.BlockingConnection(
        pika.URLParameters(os.environ.get("AMQP_URL", "amqp://guest:guest@127.0.0.1"))
    )
    channel = broker.channel()
    channel.queue_declare("events", durable=True)

    def received(channel, method, _, body):
        try:
            handle(body)
            channel.basic_ack(method.delivery_tag)
        except Failed:
            channel.basic_nack(method.delivery_tag, requeue=True)

    channel.basic_consume("events", received)
    channel.start_consuming()


async def from_nats():
    import nats

    broker = await nats.connect(f"nats://127.0.0.1:{os.environ.get('NATS_PORT', '4222')}")
    stream = broker.jetstream()
    await stream.add_stream(name="EVENTS", subjects=["events"])

    async def received(message):
        try:
            handle(message.data)
            await message.ack()
        except Failed:
            await message.nak(delay=0.3)

    await stream.subscribe("events", durable="receivers", cb=received, manual_ack=True)
    await asyncio.Event().wait()


def main():
    server = http.server.ThreadingHTTPServer(("127.0.0.1", PORT), Shown)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    if KIND == "nats":
        asyncio.run(from_nats())
    else:
        {"redis": from_redis, "rabbitmq": from_rabbitmq}[KIND]()


main()

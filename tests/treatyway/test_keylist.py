"""The key list at a real address: T62, T91, what a fetch may cost, and who waits for it."""

import contextlib
import json
import socket
import threading
import time
import unittest
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

from a202_mcp.treatyway.keylist import KeyList, fetch_bytes
from tests.treatyway.shops import KID, ShopTest, jwk, token

HTTP = "http:" + "//"
LIST = json.dumps({"keys": [jwk()]}).encode()


class Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def do_GET(self):
        self.server.asked.append((self.path, dict(self.headers)))
        self.server.answers[self.path](self)

    def log_message(self, *_):
        """Nothing."""

    def give(self, status, body=b"", **headers):
        self.send_response(status)
        for name, value in headers.items():
            self.send_header(name, value)
        self.send_header("content-length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)


class Host:
    """A web server of the test's own: a path, and what it does with a request."""

    def __init__(self, answers):
        self.server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.server.daemon_threads = True
        self.server.answers, self.server.asked = answers, []
        self.asked = self.server.asked
        self.address = f"{HTTP}127.0.0.1:{self.server.server_port}"
        threading.Thread(target=self.server.serve_forever, args=(0.01,), daemon=True).start()

    def close(self):
        self.server.shutdown()
        self.server.server_close()


def drip(handler):
    """Headers that come slowly enough for no single read to take long."""
    with contextlib.suppress(OSError):
        handler.wfile.write(b"HTTP/1.1 200 OK\r\n")
        for at in range(200):
            handler.wfile.write(b"x-%d: y\r\n" % at)
            time.sleep(0.2)


class Hosted(unittest.TestCase):
    def host(self, **answers):
        host = Host({f"/{name}": answer for name, answer in answers.items()})
        self.addCleanup(host.close)
        return host


class Fetches(Hosted):
    def test_t62_a_fetch_sends_nothing_but_the_question(self):
        host = self.host(keys=lambda handler: handler.give(200, LIST))
        self.assertEqual(fetch_bytes(host.address + "/keys"), LIST)
        [(path, headers)] = host.asked
        self.assertEqual(path, "/keys")
        self.assertLessEqual({name.lower() for name in headers},
                             {"host", "accept", "accept-encoding", "user-agent", "connection"})

    def test_t62_redirects_stay_with_the_host(self):
        foreign = self.host(keys=lambda handler: handler.give(200, LIST))
        host = self.host(
            keys=lambda handler: handler.give(200, LIST),
            moved=lambda handler: handler.give(302, location="/keys"),
            away=lambda handler: handler.give(302, location=foreign.address + "/keys"),
            named=lambda handler: handler.give(301, location=host.address.replace("127.0.0.1", "localhost") + "/keys"),
            nowhere=lambda handler: handler.give(302),
            round=lambda handler: handler.give(307, location="/round"))
        self.assertEqual(fetch_bytes(host.address + "/moved"), LIST)
        for path in ("/away", "/named", "/nowhere", "/round"):
            with self.subTest(path), self.assertRaises(OSError):
                fetch_bytes(host.address + path)
        self.assertEqual(foreign.asked, [])

    def test_t62_never_more_than_256_kb_are_read(self):
        sizes = {"least": 256 * 1024, "more": 256 * 1024 + 1, "huge": 8 * 1024 * 1024}

        def give(size):
            def answer(handler):
                with contextlib.suppress(OSError):
                    handler.give(200, b" " * size)
            return answer

        host = self.host(**{name: give(size) for name, size in sizes.items()})
        for name, read in (("least", 256 * 1024), ("more", 256 * 1024 + 1), ("huge", 256 * 1024 + 1)):
            with self.subTest(name):
                self.assertEqual(len(fetch_bytes(f"{host.address}/{name}")), read)

    def test_t62_the_whole_of_it_takes_5_seconds_at_most(self):
        def slow_body(handler):
            with contextlib.suppress(OSError):
                handler.wfile.write(b"HTTP/1.1 200 OK\r\ncontent-length: 1000\r\n\r\n")
                for _ in range(100):
                    handler.wfile.write(b" ")
                    time.sleep(0.2)

        host = self.host(headers=drip, body=slow_body)
        silent = socket.create_server(("127.0.0.1", 0))
        self.addCleanup(silent.close)
        addresses = (host.address + "/headers", host.address + "/body",
                     f"{HTTP}127.0.0.1:{silent.getsockname()[1]}/silent")
        took = {}

        def timed(address):
            begun = time.monotonic()
            with contextlib.suppress(OSError):
                fetch_bytes(address)
            took[address] = time.monotonic() - begun

        threads = [threading.Thread(target=timed, args=(address,)) for address in addresses]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join(30)
        for address in addresses:
            with self.subTest(address.rpartition("/")[2]):
                self.assertLess(took[address], 6)
                self.assertGreater(took[address], 4)

    def test_what_cannot_be_fetched_is_one_kind_of_error(self):
        host = self.host(
            broken=lambda handler: handler.wfile.write(b"nonsense\r\n\r\n"), missing=lambda handler: handler.give(404),
            failing=lambda handler: handler.give(500, LIST))
        for address in (host.address + "/broken", host.address + "/missing", host.address + "/failing",
                        f"{HTTP}127.0.0.1:1/keys", HTTP + "nowhere.invalid/keys", HTTP + "[::1", "no address"):
            with self.subTest(address.rpartition("/")[2]), self.assertRaises((OSError, ValueError)):
                fetch_bytes(address)


class Waiting(unittest.TestCase):
    """Who waits while a load takes its time."""

    def setUp(self):
        self.now, self.asked, self.going = 0.0, 0, threading.Event()
        self.begun = threading.Semaphore(0)
        self.going.set()
        self.keys = KeyList("address", 3600, clock=lambda: self.now, fetch=self.fetch)

    def fetch(self, _):
        self.asked += 1
        self.begun.release()
        self.going.wait(10)
        return LIST

    def beside(self, kid):
        found = []
        thread = threading.Thread(target=lambda: found.append(self.keys.find(kid)))
        thread.start()
        return thread, found

    def test_t91_whose_key_is_held_waits_for_nobody_else_s_load(self):
        self.keys.find(KID)
        for self.now, other in ((0.0, "unknown"), (3600.0, KID)):
            with self.subTest(other):
                self.begun = threading.Semaphore(0)
                self.going.clear()
                loading, _ = self.beside(other)
                self.assertTrue(self.begun.acquire(timeout=10))
                known, found = self.beside(KID)
                known.join(5)
                self.assertTrue(self.keys.is_ready(KID))
                self.assertEqual((known.is_alive(), len(found[0])), (False, 1))
                self.going.set()
                loading.join(10)

    def test_t91_whose_key_is_not_held_waits_for_the_one_load(self):
        self.going.clear()
        callers = [self.beside(KID) for _ in range(8)]
        self.assertTrue(self.begun.acquire(timeout=10))
        self.going.set()
        for thread, found in callers:
            thread.join(10)
            self.assertEqual(len(found[0]), 1)
        self.assertEqual(self.asked, 1)


class Beside(ShopTest):
    def test_t91_unknown_kids_by_the_dozen_do_not_hold_up_a_known_one(self):
        """More of them than there are threads, at a host that does not answer."""
        going, begun = threading.Event(), threading.Event()

        def fetch(_):
            if begun.is_set():
                return LIST
            begun.set()
            going.wait(10)
            return LIST

        keys = KeyList("address", 3600, fetch=fetch)
        keys._keys, keys._loaded = (jwk(),), time.monotonic()
        self.shop.keys = keys
        storm = [threading.Thread(target=keys.find, args=(f"unknown-{at}",)) for at in range(20)]
        for thread in storm:
            thread.start()
        self.assertTrue(begun.wait(10))
        pool = [self.desk._loading.submit(keys.load_for, f"unknown-{at}") for at in range(20)]
        begins = time.monotonic()
        self.assertIn("quote_id", self.ask("request_quote", {"summary": "x"}, token()))
        self.assertLess(time.monotonic() - begins, 5)
        going.set()
        for thread in storm:
            thread.join(10)
        for waiting in pool:
            waiting.result(10)


if __name__ == "__main__":
    unittest.main()

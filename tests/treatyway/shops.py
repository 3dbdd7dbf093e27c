"""A shop in a folder of its own, its HTTP side in process, and passes signed by a test key."""

import asyncio
import base64
import contextlib
import io
import json
import tempfile
import time
import unittest
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import ClassVar

import httpx2
from cryptography.hazmat.primitives import hashes
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.hazmat.primitives.asymmetric.utils import decode_dss_signature

from a202_mcp.cli import main
from a202_mcp.treatyway.http import HttpApp
from a202_mcp.treatyway.initialising import init
from a202_mcp.treatyway.opened import open_shop
from a202_mcp.treatyway.reading import read_settings
from a202_mcp.treatyway.server import Desk

ISSUER = "https://treatyway.invalid"
DOMAIN = "metals.example"
KID = "test-1"
KEY = ec.derive_private_key(0x7357, ec.SECP256R1())
MONDAY = datetime(2026, 11, 16, 17, 0, tzinfo=UTC)
"""09:00 in Los Angeles."""

CONFIG = """
[seller]
name = "Example Metals"
domain = "metals.example"
{seller}
[orders]
place_order = {place_order}
[quote]
{quote}
[calendar]
time_zone = "America/Los_Angeles"
open = ["mon-fri 08:00-16:00"]
closed = ["2026-12-24..2026-12-26"]
{calendar}
[[offers]]
id = "site-visit"
name = "Site visit"
kind = "service"
area = "Oakland and Berkeley"
lead_time = "3 business days"
requires = ["start", "destination"]
price = {{ fixed = "80.00", per_hour = "90.00", minimum = "120.00" }}
[[offers]]
id = "brass-rod"
name = "Brass rod, 10 mm"
kind = "good"
lead_time_text = "Ships in 2 business days"
stock = 40
max_quantity = 500
price = {{ setup = "5.00", per_unit = "12.50", tiers = [ {{ from = 20, per_unit = "11.00" }} ] }}
[[offers]]
id = "odd-job"
name = "Odd job"
kind = "service"
[[offers]]
id = "survey"
name = "Survey"
kind = "service"
price = {{ fixed = "600.00" }}
[[offers]]
id = "plant"
name = "Plant"
kind = "service"
price = {{ fixed = "5000.00" }}
[[offers]]
id = "scrap"
name = "Scrap"
kind = "good"
price = {{ per_unit = "1.00" }}
{offers}
[pass]
jwks = "keys.json"
issuer = "https://treatyway.invalid"
{passes}
[caps]
level0 = {level0}
level1 = {level1}
level2 = 1000
{customers}
{more}
[mandate]
max_total = "2000.00"
ask_above = "500.00"
min_total = "20.00"
"""
_DEFAULTS = {"seller": "", "place_order": "true", "quote": "", "calendar": "", "offers": "", "passes": "",
             "level0": 500, "level1": 600, "customers": "", "more": ""}


def b64(data):
    return base64.urlsafe_b64encode(data).rstrip(b"=").decode()


def jwk(key=KEY, kid=KID, **more):
    numbers = key.public_key().public_numbers()
    return {"kty": "EC", "crv": "P-256", "kid": kid, "use": "sig", "alg": "ES256",
            "x": b64(numbers.x.to_bytes(32, "big")), "y": b64(numbers.y.to_bytes(32, "big")), **more}


def claims(**more):
    now = int(time.time())
    base = {"iss": ISSUER, "sub": "agent-7", "aud": DOMAIN, "iat": now, "exp": now + 600, "level": 2, "jti": "jti-1",
            "name": "Harbour Yard"}
    return {name: value for name, value in {**base, **more}.items() if value is not None}


def signed(header, payload, key=KEY):
    """A token over these parts, each an object or the very bytes."""
    parts = [part if isinstance(part, bytes) else json.dumps(part).encode() for part in (header, payload)]
    first = ".".join(b64(part) for part in parts)
    r, s = decode_dss_signature(key.sign(first.encode(), ec.ECDSA(hashes.SHA256())))
    return first + "." + b64(r.to_bytes(32, "big") + s.to_bytes(32, "big"))


def token(level=2, key=KEY, **more):
    return signed({"alg": "ES256", "kid": KID, "typ": "JWT"}, claims(level=level, **more), key)


def config(**choices):
    return CONFIG.format(**{**_DEFAULTS, **choices})


class Clock:
    def __init__(self, now):
        self.now = now

    def __call__(self):
        return self.now

    def pass_on(self, **span):
        self.now += timedelta(**span)


class ShopTest(unittest.TestCase):
    """`self.shop` is open; `self.ask` calls a tool over the HTTP side and returns its result."""

    CHOICES: ClassVar = {}
    CLOCK = None

    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = Path(folder.name)
        (self.folder / "keys.json").write_text(json.dumps({"keys": [jwk()]}))
        self.file = self.folder / "seller.toml"
        self.log = io.StringIO()
        stack = contextlib.ExitStack()
        stack.enter_context(contextlib.redirect_stderr(self.log))
        self.addCleanup(stack.close)
        self.desk = None
        self.clock = Clock(self.CLOCK) if self.CLOCK else lambda: datetime.now(UTC)
        self.open(**self.CHOICES)
        self.addCleanup(self.close)

    def open(self, **choices):
        """(Re)open the shop, with these parts of its file."""
        self.close()
        self.file.write_text(config(**choices))
        self.reopened()

    def reopened(self):
        """Open the shop with its file as it is now."""
        settings = read_settings(self.file, None)
        self.assertNotIsInstance(settings, list, settings)
        init(settings, self.clock)
        self.shop = open_shop(settings, self.clock)
        self.desk = Desk(self.shop)

    def close(self):
        if self.desk is not None:
            self.desk.close()
            self.desk = None

    def http(self, method="POST", path="/mcp", *, body=None, headers=None, peer="203.0.113.7", app=None, **request):
        """One HTTP exchange."""
        async def run():
            served = app or HttpApp(self.desk, **({"clock": lambda: self.clock().timestamp()} if self.CLOCK else {}))
            async with served.manager.run():
                transport = httpx2.ASGITransport(app=served, client=(peer, 4711))
                async with httpx2.AsyncClient(transport=transport, base_url="http:" + "//127.0.0.1") as client:
                    return await client.request(method, path, content=body, headers=headers, **request)

        return asyncio.run(run())

    def rpc(self, method, params, pass_=None, peer="203.0.113.7", headers=()):
        """One JSON-RPC exchange: the whole response document."""
        sent = {"content-type": "application/json", "accept": "application/json, text/event-stream", **dict(headers)}
        if pass_ is not None:
            sent["authorization"] = f"Bearer {pass_}"
        body = json.dumps({"jsonrpc": "2.0", "id": 1, "method": method, "params": params})
        response = self.http(body=body, headers=sent, peer=peer)
        self.assertEqual(response.status_code, 200, response.text)
        return response.json()

    def call(self, tool, arguments=None, pass_=None, **more):
        """One tool call: the protocol's result, its two forms compared."""
        given = {"name": tool, "arguments": {} if arguments is None else arguments}
        document = self.rpc("tools/call", given, pass_, **more)
        self.assertIn("result", document, document)
        result = document["result"]
        text = result["content"][0]["text"]
        if result.get("isError"):
            message, _, rest = text.partition("\n")
            self.assertEqual(message, result["structuredContent"]["error"]["message"])
            self.assertEqual(json.loads(rest), result["structuredContent"])
        return result

    def ask(self, tool, arguments=None, pass_=None, **more):
        """The answer's JSON; an error fails the test."""
        result = self.call(tool, arguments, pass_, **more)
        self.assertFalse(result.get("isError"), result)
        return result["structuredContent"]

    def fails(self, code, tool, arguments=None, pass_=None, **more):
        """The error's message, after its code was compared."""
        result = self.call(tool, arguments, pass_, **more)
        self.assertTrue(result.get("isError"), result)
        error = result["structuredContent"]["error"]
        self.assertEqual(error["code"], code, error)
        return error["message"]

    def seller(self, *arguments, status=0):
        """One of the owner's commands; what it printed."""
        out, err = io.StringIO(), io.StringIO()
        with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
            found = main(["seller", *arguments, "--config", str(self.file)])
        self.assertEqual(found, status, out.getvalue() + err.getvalue())
        return out.getvalue() + err.getvalue()

    def inbox(self, *options):
        return json.loads(self.seller("inbox", "--json", *options))["items"]

    def status(self, identifier):
        return json.loads(self.seller("status", identifier, "--json"))

    def quote(self, pass_=None, **more):
        """A priced quote of brass rods."""
        return self.ask("request_quote", {"summary": "rods", "offer_id": "brass-rod", "quantity": 2, **more}, pass_)

    def order(self, quote_id, pass_=None, **more):
        return self.ask("place_order", {"quote_id": quote_id, **more}, pass_ or token())

    def objects(self, transaction_id):
        return self.shop.workspace.store.holdings(transaction_id).objects

    def export(self, transaction_id, *options):
        """The exported bundle and the exit status of verifying it."""
        path = self.folder / "bundle.json"
        state = str(self.shop.settings.state_dir)
        with contextlib.redirect_stderr(io.StringIO()), contextlib.redirect_stdout(io.StringIO()) as out:
            self.assertEqual(main(["export", transaction_id, "--state-dir", state, "-o", str(path), *options]), 0)
            found = main(["verify", str(path), "--format", "json"])
        return json.loads(path.read_text()), found, json.loads(out.getvalue())

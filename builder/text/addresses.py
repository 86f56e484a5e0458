"""Addresses in a text: of people (e-mail) and of machines (IP)."""

import ipaddress
import re
from collections.abc import Iterator

from builder.text.findings import Place, has_any

_EMAIL = re.compile(r"[\w.+%'-]{0,63}[\w+%-]@(?:[\w-]{1,63}\.){1,8}[^\W\d_]{2,24}(?![\w@])")
_SPELT_EMAIL = re.compile(
    r"\b[\w.+-]{1,63}\s?[(\[{]\s?at\s?[)\]}]\s?[\w-]{1,63}(?:(?:\s?[(\[{]\s?dot\s?[)\]}]\s?|\.)[\w-]{2,63}){1,5}",
    re.IGNORECASE,
)
_SPELT_SIGNS = ("at)", "at]", "at}", "at )", "at ]", "AT)", "AT]")
_REMOTE = re.compile(r"[:/]\w")

_IPV4 = re.compile(r"\d(?<![\w.]\d)\d{0,2}(?:\.\d{1,3}){3}(?!\w|\.\d)(/\d{1,2})?")
_VERSION_BEFORE = re.compile(
    r"(?:\b(?:v|ver|version|release|build|driver|firmware|agent|client|server|sdk|oid)\.?[ :=]{0,2}|[\w@~^]-?)\Z",
    re.IGNORECASE,
)
_HOST_CUE = re.compile(
    r"(?:ip|ips|address|adresse|dirección|host|server|from|ping|dns|resolver|gateway|login)\b[^.\n]{0,16}\Z",
    re.IGNORECASE,
)
_IPV6 = re.compile(r"(?<![\w:.])(?=[0-9A-Fa-f:]{0,40}\d)[0-9A-Fa-f]{0,4}(?::[0-9A-Fa-f]{0,4}){2,7}(?![\w:])")
_NO_HOST = {"0.0.0.0", "127.0.0.1", "255.255.255.255", "::1", "::"}


def find_emails(text: str) -> Iterator[Place]:
    """E-mail addresses, also spelt "name (at) host (dot) org"; a git remote is none."""
    if "@" in text:
        for match in _EMAIL.finditer(text):
            if match.group().startswith("git@") and _REMOTE.match(text, match.end()):
                continue
            yield "email", match.start(), match.end(), 0.99
    if has_any(text, _SPELT_SIGNS):
        for match in _SPELT_EMAIL.finditer(text):
            yield "email", match.start(), match.end(), 0.9


def find_addresses(text: str) -> Iterator[Place]:
    """IP addresses of hosts; versions, sections, netmasks and private networks are none."""
    for match in _IPV4.finditer(text):
        address = match.group().partition("/")[0]
        try:
            host = ipaddress.ip_address(address)
        except ValueError:
            continue
        if address in _NO_HOST or address.startswith(("255.", "0.")) or _is_private_network(match.group()):
            continue
        if len(address) == 7 and not _HOST_CUE.search(text[max(0, match.start() - 24) : match.start()]):
            # 1.1.3.6 is a section of a document before it is an address.
            continue
        if int(address.partition(".")[0]) < 100 and _VERSION_BEFORE.search(
            text[max(0, match.start() - 24) : match.start()]
        ):
            continue
        yield "ip", match.start(), match.start() + len(address), 0.95 if not host.is_reserved else 0.6
    if "::" in text or text.count(":") > 6:
        for match in _IPV6.finditer(text):
            try:
                ipaddress.IPv6Address(match.group())
            except ValueError:
                continue
            if match.group() not in _NO_HOST and len(match.group()) > 5:
                yield "ip", match.start(), match.end(), 0.95


def _is_private_network(text: str) -> bool:
    """10.0.0.0/16 and its like are part of a configuration, nobody's address."""
    if "/" not in text:
        return False
    try:
        network = ipaddress.ip_network(text, strict=True)
    except ValueError:
        return False
    return network.is_private and network.num_addresses > 1

"""Keys, tokens and passwords in a text: by their known beginnings, by what introduces them, or by their disorder."""

import re
from collections.abc import Iterator
from itertools import pairwise

from builder.text.findings import Place, has_any

_PREFIXED = re.compile(
    r"(?<![A-Za-z0-9])(?:"
    r"sk-[A-Za-z0-9_-]{16,}|(?:sk|pk|rk)_(?:live|test)_[A-Za-z0-9]{10,}|gh[pousr]_[A-Za-z0-9]{20,}|github_pat_\w{20,}"
    r"|glpat-[\w-]{16,}|(?:AKIA|ASIA|AROA|AIDA)[A-Z0-9]{16}|xox[abeoprs]-[A-Za-z0-9-]{10,}|xapp-[A-Za-z0-9-]{10,}|AIza[\w-]{30,}"
    r"|ya29\.[\w-]{20,}|hf_[A-Za-z0-9]{20,}|npm_[A-Za-z0-9]{20,}|pypi-[\w-]{20,}|SG\.[\w-]{16,}\.[\w-]{16,}|shp(?:at|ca|pa|ss)_[0-9a-fA-F]{20,}"
    r"|do[pos]_v1_[0-9a-f]{32,}|sq0[a-z]{3}-[\w-]{20,}|key-[0-9a-f]{32}|EAAC[A-Za-z0-9]{20,}|dckr_pat_[\w-]{20,}"
    r"|eyJ[\w-]{6,}\.[\w-]{6,}(?:\.[\w-]{0,})?"
    r")"
)
_PREFIX_HINTS = (
    *(
        "sk-",
        "sk_",
        "pk_",
        "rk_",
        "ghp_",
        "gho_",
        "ghu_",
        "ghs_",
        "ghr_",
        "github_pat_",
        "glpat-",
        "AKIA",
        "ASIA",
        "AROA",
    ),
    *(
        "AIDA",
        "xox",
        "xapp-",
        "AIza",
        "ya29.",
        "hf_",
        "npm_",
        "pypi-",
        "SG.",
        "shp",
        "_v1_",
        "sq0",
        "key-",
        "EAAC",
        "dckr_",
    ),
    "eyJ",
)
_PEM = re.compile(
    r"-----BEGIN [A-Z ]{0,30}PRIVATE KEY-----.{0,20000}?(?:-----END [A-Z ]{0,30}PRIVATE KEY-----|\Z)",
    re.DOTALL,
)
_USERINFO = re.compile(r"(?<=://)[^\s/@:]{1,80}:([^\s/@]{1,80})@")
_TOLD = re.compile(
    r"(?:password|passwd|passphrase|passwort|kennwort|mot\sde\spasse|contraseña|senha|pwd|api[ _-]?key|secret(?:[ _-]key)?"
    r"|access[ _-]?(?:key|token)|auth[ _-]?token|token|bearer|密码|パスワード)"
    r"[\"'`]?(?:\s?(?:is|ist|est|es|é|was|to)\s|\s?[:=：]{1,2}\s?|\s)[\"'`]?(?P<value>[^\s\"'`<>,;，。]{6,120})",
)
_TOLD_HINTS = (
    "pass",
    "pwd",
    "key",
    "token",
    "secret",
    "bearer",
    "kennwort",
    "contraseña",
    "senha",
    "密码",
    "パスワード",
)
_LETTER = re.compile(r"[^\W\d_]")
_TOKEN = re.compile(r"[A-Za-z0-9+/_=-]{16,}")
_DIGEST_CUE = re.compile(
    r"(?:commit|sha-?\d*|digest|checksum|md5|hash|uuid|guid|build|etag|fingerprint|revision)[\s:=@(`\"']{0,4}(?:sha256:)?\Z",
    re.IGNORECASE,
)
_UUID = re.compile(r"[0-9a-fA-F]{8}(?:-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}")
_WORD = re.compile(r"[a-z]{6}")
_HEX = re.compile(r"[0-9a-f]+|[0-9A-F]+")


def _changes(run: str) -> float:
    """Share of neighbours in `run` of which one is a small letter, the other a capital or a digit, and so on."""
    kinds = ["d" if c.isdigit() else "u" if c.isupper() else "l" for c in run]
    return sum(left != right for left, right in pairwise(kinds)) / max(1, len(run) - 1)


def _is_random(run: str) -> bool:
    """Whether letters and digits follow each other as they do in a key, not in a name.

    A key drawn from 62 signs changes between small, capital and digit at three of five places, and every sixth sign
    is a digit; EC2InstanceConnectV2 or web-07 change less or have fewer.
    """
    changes, digits = _changes(run), sum(map(str.isdigit, run))
    has_small, has_capital = run != run.upper(), run != run.lower()
    if not digits:
        return has_small and has_capital and len(run) >= 24 and changes >= 0.38
    if has_small and has_capital:
        return changes >= 0.5 or (changes >= 0.34 and digits > 2)
    return (has_small or has_capital) and changes >= 0.25 and len(set(run)) >= 8


def find_secrets(text: str) -> Iterator[Place]:
    """Secrets; digests, commits and UUIDs are none."""
    long = list(_TOKEN.finditer(text))
    if long and has_any(text, _PREFIX_HINTS):
        for match in _PREFIXED.finditer(text):
            yield "secret", match.start(), match.end(), 0.99
    if "-----BEGIN" in text:
        for match in _PEM.finditer(text):
            yield "secret", match.start(), match.end(), 0.99
    if "://" in text:
        for match in _USERINFO.finditer(text):
            yield "secret", match.start(1), match.end(1), 0.95
    small = text.lower()
    # Searching small letters is faster than ignoring case; a letter that grows when it shrinks (İ) forbids it.
    same = small if len(small) == len(text) else text
    for match in _TOLD.finditer(same) if has_any(small, _TOLD_HINTS) else ():
        value = match["value"].rstrip(".!?)")
        if any(c.isdigit() for c in value) and (_LETTER.search(value) or len(value) > 7):
            yield "secret", match.start("value"), match.start("value") + len(value), 0.9
    for match in long:
        if text.startswith("://", match.start() - 3) or text.startswith("//", match.start()):
            continue
        if _is_key(match.group()) and not _DIGEST_CUE.search(
            text[max(0, match.start() - 24) : match.start()]
        ):
            yield "secret", match.start(), match.end(), 0.8


def _is_key(token: str) -> bool:
    if (
        len(token) < 20
        or _UUID.fullmatch(token)
        or (token.isalpha() and token.islower())
        or "REDACTED" in token
    ):
        return False
    run = max(re.split(r"[-_/+=]", token), key=len)
    if len(run) >= 16 and _is_random(run):
        return not (_HEX.fullmatch(run) and len(run) < 32)
    # Base64 is broken by its own signs; a path of that length holds a word.
    whole = re.sub(r"[-_/+=]", "", token)
    mixed = any(map(str.isdigit, whole)) and whole not in (whole.lower(), whole.upper())
    return mixed and len(whole) >= 32 and not _WORD.search(token) and _changes(whole) >= 0.34

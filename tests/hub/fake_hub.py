"""A dataset hub in memory, spoken to over HTTP by the real client: commits, tags, branches, large files, pull requests.

It answers the endpoints that `huggingface_hub` and `datasets` call to publish and to load, with the Hub's status codes
and error headers: 401 for a wrong token, 409 for a tag that exists, 412 for a parent that has moved on. It can cut the
connection at the n-th request, before the request is acted on or after.
"""

import base64
import hashlib
import json
import threading
import time
from collections.abc import Awaitable, Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import unquote

import uvicorn
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route

TOKEN = "hf_right"
DATE = "2026-01-01T00:00:00.000Z"
LARGE = (".parquet",)
_SLASH = "\x00"

Tree = dict[str, tuple[bool, bytes]]
"""Path -> (whether it is a large file, bytes)."""


@dataclass
class Commit:
    parent: str
    tree: Tree
    title: str


@dataclass
class Repo:
    name: str
    private: bool
    commits: dict[str, Commit] = field(default_factory=dict)
    heads: dict[str, str] = field(default_factory=dict)
    tags: dict[str, str] = field(default_factory=dict)

    def commit(self, parent: str, tree: Tree, title: str) -> str:
        """Add a commit and return its id; no branch moves."""
        content = sorted(
            (path, large, hashlib.sha256(data).hexdigest()) for path, (large, data) in tree.items()
        )
        name = hashlib.sha1(json.dumps([parent, title, content]).encode()).hexdigest()
        self.commits[name] = Commit(parent, tree, title)
        return name

    def resolve(self, revision: str) -> str | None:
        """The commit that a branch, a tag or a commit id means."""
        short = revision.removeprefix("refs/heads/")
        found = self.heads.get(short) or self.tags.get(short)
        return found or (revision if revision in self.commits else None)

    def push(self, path: str, data: bytes) -> str:
        """A commit by somebody else on main."""
        head = self.heads["main"]
        self.heads["main"] = self.commit(
            head, {**self.commits[head].tree, path: (False, data)}, f"edit {path}"
        )
        return self.heads["main"]

    def text(self, path: str, revision: str = "main") -> str:
        """A file's content at a revision."""
        commit = self.resolve(revision)
        assert commit is not None
        return self.commits[commit].tree[path][1].decode()


def blob_id(data: bytes) -> str:
    """Git's digest of a file."""
    return hashlib.sha1(b"blob %d\0" % len(data) + data).hexdigest()


def entry(path: str, large: bool, data: bytes) -> dict[str, Any]:
    """A file as listings show it; a large one as the digest of its pointer."""
    digest = hashlib.sha256(data).hexdigest()
    pointer = f"version https://git-lfs.github.com/spec/v1\noid sha256:{digest}\nsize {len(data)}\n".encode()
    row = {"type": "file", "path": path, "size": len(data), "oid": blob_id(pointer if large else data)}
    return {**row, "lfs": {"oid": digest, "size": len(data), "pointerSize": len(pointer)}} if large else row


def refusal(status: int, code: str, message: str) -> Response:
    """An error in the form that the client turns into the right exception."""
    headers = {"X-Error-Code": code, "X-Error-Message": message}
    return JSONResponse({"error": message}, status, headers=headers)


NOT_FOUND = refusal(404, "RepoNotFound", "Repository not found")
Handler = Callable[[Request], Awaitable[Response]]


class FakeHub:
    """The hub: its repositories, what was asked of it, and where it cuts the connection."""

    def __init__(self) -> None:
        self.repos: dict[str, Repo] = {}
        self.large: dict[str, bytes] = {}
        self.log: list[str] = []
        self.cut_at = 0
        self.cut_after_acting = False
        self.before_commit: Callable[[], None] | None = None
        self.app = Starlette(routes=self._routes())

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
        if scope["type"] != "http":
            await self.app(scope, receive, send)
            return
        raw = scope["raw_path"].decode().split("?")[0]
        self.log.append(f"{scope['method']} {raw}")
        # A quoted slash inside a revision (refs%2Fpr%2F1) is one segment of the path.
        scope = {**scope, "path": unquote(raw.replace("%2F", _SLASH).replace("%2f", _SLASH))}
        if self.cut_at and len(self.log) == self.cut_at:
            if self.cut_after_acting:
                await self.app(scope, receive, _swallow)
            # A body that ends too early: the server has to drop the connection.
            await send(
                {"type": "http.response.start", "status": 200, "headers": [(b"content-length", b"99")]}
            )
            await send({"type": "http.response.body", "body": b"{", "more_body": True})
            return
        await self.app(scope, receive, send)

    def _routes(self) -> list[Route]:
        at = "/api/datasets/{ns}/{name}"
        table: list[tuple[str, Handler, list[str]]] = [
            ("/api/whoami-v2", self.whoami, ["GET"]),
            ("/api/validate-yaml", self.validate_yaml, ["POST"]),
            ("/api/repos/create", self.create, ["POST"]),
            (at + "/preupload/{rev}", self.preupload, ["POST"]),
            (at + "/commit/{rev}", self.commit, ["POST"]),
            (at + "/tag/{rev}", self.tag, ["POST", "DELETE"]),
            (at + "/branch/{rev}", self.branch, ["POST", "DELETE"]),
            (at + "/refs", self.refs, ["GET"]),
            (at + "/tree/{rev}", self.tree, ["GET"]),
            (at + "/tree/{rev}/{path:path}", self.tree, ["GET"]),
            (at + "/paths-info/{rev}", self.paths_info, ["POST"]),
            (at + "/revision/{rev}", self.info, ["GET"]),
            (at, self.info, ["GET"]),
            ("/datasets/{ns}/{name}.git/info/lfs/objects/batch", self.batch, ["POST"]),
            ("/_lfs/{oid}", self.put_large, ["PUT"]),
            ("/_lfs/{oid}/verify", self.verify_large, ["POST"]),
            ("/datasets/{ns}/{name}/resolve/{rev}/{path:path}", self.resolve, ["GET", "HEAD"]),
        ]
        return [Route(path, self._guarded(handler), methods=methods) for path, handler, methods in table]

    def _guarded(self, handler: Handler) -> Handler:
        async def guarded(request: Request) -> Response:
            params = request.scope["path_params"]
            request.scope["path_params"] = {k: v.replace(_SLASH, "/") for k, v in params.items()}
            public = request.url.path.startswith("/_lfs/")
            if not public and request.headers.get("authorization") != f"Bearer {TOKEN}":
                return refusal(401, "", "Invalid credentials in Authorization header")
            return await handler(request)

        return guarded

    def _repo(self, request: Request) -> Repo | None:
        return self.repos.get("{ns}/{name}".format(**request.path_params))

    def _at(self, request: Request) -> tuple[Repo, str] | Response:
        """The repository and commit that a request names, or the refusal."""
        repo = self._repo(request)
        if repo is None:
            return NOT_FOUND
        revision = request.path_params.get("rev", "main")
        commit = repo.resolve(revision)
        return (repo, commit) if commit else refusal(404, "RevisionNotFound", f"Invalid rev id: {revision}")

    async def whoami(self, request: Request) -> Response:
        role = {"type": "access_token", "accessToken": {"displayName": "t", "role": "write"}}
        return JSONResponse({"name": "tester", "type": "user", "orgs": [], "auth": role})

    async def validate_yaml(self, request: Request) -> Response:
        return JSONResponse({"errors": [], "warnings": []})

    async def create(self, request: Request) -> Response:
        body = await request.json()
        name = f"{body.get('organization') or 'tester'}/{body['name']}"
        address = f"{request.base_url}datasets/{name}"
        if name in self.repos:
            return JSONResponse({"error": "You already created this repo", "url": address}, 409)
        private = bool(body.get("private")) or body.get("visibility") == "private"
        repo = self.repos[name] = Repo(name, private)
        attributes = {".gitattributes": (False, b"*.parquet filter=lfs diff=lfs merge=lfs -text\n")}
        repo.heads["main"] = repo.commit("", attributes, "initial commit")
        return JSONResponse({"url": address, "name": name})

    async def info(self, request: Request) -> Response:
        found = self._at(request)
        if isinstance(found, Response):
            return found
        repo, commit = found
        files = [{"rfilename": path} for path in sorted(repo.commits[commit].tree)]
        facts = {
            "id": repo.name,
            "_id": "0" * 24,
            "author": repo.name.split("/")[0],
            "sha": commit,
            "gated": False,
        }
        more = {"private": repo.private, "disabled": False, "downloads": 0, "likes": 0, "tags": []}
        return JSONResponse({**facts, **more, "lastModified": DATE, "createdAt": DATE, "siblings": files})

    async def tree(self, request: Request) -> Response:
        found = self._at(request)
        if isinstance(found, Response):
            return found
        repo, commit = found
        top = request.path_params.get("path", "").strip("/")
        deep = request.query_params.get("recursive", "").lower() in ("true", "1")
        files: list[dict[str, Any]] = []
        folders: dict[str, None] = {}
        for path, (large, data) in sorted(repo.commits[commit].tree.items()):
            if top and not path.startswith(f"{top}/"):
                continue
            parts = path[len(top) + 1 if top else 0 :].split("/")
            for depth in range(1, len(parts)):
                if depth == 1 or deep:
                    folders["/".join([*([top] if top else []), *parts[:depth]])] = None
            if deep or len(parts) == 1:
                files.append(entry(path, large, data))
        if top and not files and not folders:
            return refusal(404, "EntryNotFound", "path not found")
        listed = [
            {"type": "directory", "path": path, "size": 0, "oid": blob_id(path.encode())} for path in folders
        ]
        return JSONResponse([*listed, *files])

    async def paths_info(self, request: Request) -> Response:
        found = self._at(request)
        if isinstance(found, Response):
            return found
        repo, commit = found
        if request.headers.get("content-type", "").startswith("application/json"):
            paths = (await request.json())["paths"]
        else:
            paths = (await request.form()).getlist("paths")
        tree = repo.commits[commit].tree
        rows: list[dict[str, Any]] = []
        for path in paths:
            if path in tree:
                rows.append(entry(path, *tree[path]))
            elif any(name.startswith(f"{path.rstrip('/')}/") for name in tree):
                rows.append({"type": "directory", "path": path, "size": 0, "oid": blob_id(path.encode())})
        return JSONResponse(rows)

    async def preupload(self, request: Request) -> Response:
        files = (await request.json())["files"]
        modes = [
            {"path": f["path"], "uploadMode": "lfs" if f["path"].endswith(LARGE) else "regular"}
            for f in files
        ]
        return JSONResponse({"files": [{**mode, "shouldIgnore": False} for mode in modes]})

    async def batch(self, request: Request) -> Response:
        rows = []
        for wanted in (await request.json())["objects"]:
            row: dict[str, Any] = {"oid": wanted["oid"], "size": wanted["size"]}
            if wanted["oid"] not in self.large:
                href = f"{request.base_url}_lfs/{wanted['oid']}"
                row["actions"] = {
                    "upload": {"href": href, "header": {}},
                    "verify": {"href": f"{href}/verify"},
                }
            rows.append(row)
        return JSONResponse({"transfer": "basic", "objects": rows})

    async def put_large(self, request: Request) -> Response:
        data = await request.body()
        if hashlib.sha256(data).hexdigest() != request.path_params["oid"]:
            return Response("digest does not match", 400)
        self.large[request.path_params["oid"]] = data
        return Response("")

    async def verify_large(self, request: Request) -> Response:
        body = await request.json()
        return JSONResponse({}, 200 if len(self.large.get(body["oid"], b"")) == body["size"] else 422)

    async def commit(self, request: Request) -> Response:
        if self.before_commit:
            act, self.before_commit = self.before_commit, None
            act()
        found = self._at(request)
        if isinstance(found, Response):
            return found
        repo, head = found
        lines = [json.loads(line) for line in (await request.body()).splitlines() if line.strip()]
        header = lines[0]["value"]
        if header.get("parentCommit") and header["parentCommit"] != head:
            return refusal(
                412, "PreconditionFailed", "A commit has happened since. Please refresh and try again."
            )
        tree = dict(repo.commits[head].tree)
        for line in lines[1:]:
            value = line["value"]
            if line["key"] == "file":
                tree[value["path"]] = (False, base64.b64decode(value["content"]))
            elif line["key"] == "lfsFile":
                if value["oid"] not in self.large:
                    return refusal(400, "BadRequest", "large file is missing")
                tree[value["path"]] = (True, self.large[value["oid"]])
            elif line["key"] == "deletedFile":
                tree.pop(value["path"], None)
        name = repo.commit(head, tree, header.get("summary", ""))
        answer = {
            "success": True,
            "commitOid": name,
            "commitUrl": f"{request.base_url}datasets/{repo.name}/commit/{name}",
        }
        if request.query_params.get("create_pr"):
            number = 1 + sum(branch.startswith("refs/pr/") for branch in repo.heads)
            repo.heads[f"refs/pr/{number}"] = name
            answer["pullRequestUrl"] = f"{request.base_url}datasets/{repo.name}/discussions/{number}"
        else:
            repo.heads[request.path_params["rev"]] = name
        return JSONResponse({**answer, "hookOutput": ""})

    async def tag(self, request: Request) -> Response:
        found = self._at(request)
        if isinstance(found, Response):
            return found
        repo, commit = found
        name = (await request.json())["tag"]
        if name in repo.tags:
            return refusal(409, "Conflict", "Tag reference exists already")
        repo.tags[name] = commit
        return JSONResponse({})

    async def branch(self, request: Request) -> Response:
        repo = self._repo(request)
        if repo is None:
            return NOT_FOUND
        name = request.path_params["rev"]
        if request.method == "DELETE":
            return (
                JSONResponse({})
                if repo.heads.pop(name, None)
                else refusal(404, "RevisionNotFound", "no such branch")
            )
        if name in repo.heads:
            return refusal(409, "Conflict", "Reference already exists")
        start = repo.resolve((await request.json()).get("startingPoint", "main"))
        if start is None:
            return refusal(404, "RevisionNotFound", "no such starting point")
        repo.heads[name] = start
        return JSONResponse({})

    async def refs(self, request: Request) -> Response:
        repo = self._repo(request)
        if repo is None:
            return NOT_FOUND
        own = {name: commit for name, commit in repo.heads.items() if not name.startswith("refs/")}
        branches = [{"name": n, "ref": f"refs/heads/{n}", "targetCommit": c} for n, c in own.items()]
        tags = [{"name": n, "ref": f"refs/tags/{n}", "targetCommit": c} for n, c in repo.tags.items()]
        return JSONResponse({"branches": branches, "converts": [], "tags": tags})

    async def resolve(self, request: Request) -> Response:
        found = self._at(request)
        if isinstance(found, Response):
            return found
        repo, commit = found
        stored = repo.commits[commit].tree.get(request.path_params["path"])
        if stored is None:
            return refusal(404, "EntryNotFound", "Entry not found")
        large, data = stored
        tag = f'"{hashlib.sha256(data).hexdigest() if large else blob_id(data)}"'
        headers = {
            "X-Repo-Commit": commit,
            "ETag": tag,
            "Accept-Ranges": "bytes",
            "X-Linked-Size": str(len(data)),
        }
        if large:
            headers["X-Linked-ETag"] = tag
        wanted = request.headers.get("range")
        if wanted and request.method == "GET":
            first, _, last = wanted.removeprefix("bytes=").partition("-")
            start, end = int(first), min(int(last) if last else len(data) - 1, len(data) - 1)
            headers["Content-Range"] = f"bytes {start}-{end}/{len(data)}"
            return Response(data[start : end + 1], 206, headers)
        return Response(data, 200, {**headers, "Content-Length": str(len(data))})


async def _swallow(message: Any) -> None:
    """Where the answer of a request goes whose connection is cut."""


@contextmanager
def serving(hub: FakeHub) -> Iterator[str]:
    """The hub on a free port of this machine; yields its address."""
    server = uvicorn.Server(
        uvicorn.Config(hub, host="127.0.0.1", port=0, log_level="critical", lifespan="off")
    )
    thread = threading.Thread(target=server.run, daemon=True)
    thread.start()
    while not server.started:
        time.sleep(0.01)
    port = server.servers[0].sockets[0].getsockname()[1]
    try:
        yield f"http://127.0.0.1:{port}"
    finally:
        server.should_exit = True
        thread.join()

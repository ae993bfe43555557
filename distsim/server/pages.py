"""The web pages; every panel is a table that works without JavaScript."""

import asyncio
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass
from functools import lru_cache
from hashlib import sha256
from importlib.resources import files
from typing import Any
from urllib.parse import urlencode

from jinja2 import Environment, PackageLoader, StrictUndefined
from markupsafe import Markup
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from distsim.base.errors import ParameterError
from distsim.output.pictures.phrase_map import Mark, draw_map
from distsim.server import api
from distsim.server.answers import About, Map
from distsim.server.artifact_cache import DamagedError, Shelf
from distsim.server.endpoints import ENDPOINTS, PREFIX, Choice, Text, Whole
from distsim.server.limits import LIMITS
from distsim.server.openapi import FAULTS
from distsim.server.session import SYNTAX
from distsim.server.worker_queues import BusyError, TooLongError

HTML = "text/html"
Handler = Callable[[Request], Awaitable[Response]]
_FAULTS = (ParameterError, BusyError, TooLongError, DamagedError)
_PATIENCE_SECONDS, _AGAIN_SECONDS = 4.0, 3
_KEPT_MAPS = 100
_KEPT_SECONDS = 31_536_000  # of what stands under a name that changes with it


@dataclass(frozen=True)
class Panel:
    """A part of a page: its name, its title, its explanation and its endpoint.

    name: in addresses. endpoint: whose answer it shows, by the template of that name. waits: it
    is asked for when the page stands.
    """

    name: str
    title: str
    told: str
    endpoint: str
    waits: bool = False


PANELS = {
    one.name: one
    for one in (
        Panel("neighbours", "Neighbours",
              "Phrases that keep the same company: the nearer to 1, the more alike are the words "
              "around them.", "neighbours"),
        Panel("map", "Map",
              "The same neighbours as a map: like ones stand together, and a line joins each to "
              "its two nearest.", "map"),
        Panel("syntax", "Neighbours by syntax",
              "Phrases that stand in the same grammatical relations.", "neighbours"),
        Panel("contexts", "Contexts",
              "The words right before and right behind the phrase, those first that go with it "
              "far more often than chance has it.", "contexts"),
        Panel("concordance", "Concordance",
              "The phrase where it stands in the text; a line's place opens the passage.",
              "concordance"),
        Panel("paraphrases", "Paraphrases",
              "What else could be said: phrases that fit into the same gaps, and into which.",
              "paraphrases", waits=True),
        Panel("rules", "Rules",
              "What the grammar puts in the phrase's place, and of which smaller pairs each rule "
              "is made.", "rules"),
        Panel("compare", "Two phrases",
              "How alike two phrases are by every measure, which contexts they share and which "
              "only one of them has.", "compare"),
        Panel("substitutes", "In a sentence",
              "What may stand in a word's place in this very sentence.", "substitutes"),
    )
}  # fmt: skip


def routes(shelf: Shelf) -> list[Route]:
    """Return the routes of the pages and of their static files."""
    site = _Site(shelf)
    return [
        Route("/", site.soon(site.phrase)),
        Route("/compare", site.soon(site.compare)),
        Route("/sentence", site.soon(site.sentence)),
        Route("/passage", site.soon(site.passage)),
        Route("/api", site.soon(site.api)),
        Route("/panel/{name}", site.panel),
        Route("/static/{name}", site.static),
        Route("/favicon.ico", site.icon),
    ]


def as_page(shelf: Shelf, request: Request, error: Exception) -> Response:
    """Return the page of an error."""
    status, code, message = api.fault_of(error)
    site = _Site(shelf)
    if code == "damaged":
        title = "The index cannot be read"
    else:
        title = {404: "No such page", 503: "Busy", 504: "Too long"}.get(
            status, "Cannot be answered"
        )
    return site.rendered("fault.html", status, title=title, message=message, about=None, q="")


class _Site:
    """Renders pages from a shelf's answers."""

    def __init__(self, shelf: Shelf) -> None:
        self._shelf = shelf
        self._begun: set[asyncio.Future[Response]] = set()

    def soon(self, page: Handler) -> Handler:
        """Return a handler that returns the page, or during warm-up a page that asks to wait.

        That one asks for itself again; the work that was begun goes on, and its answers are kept.
        """

        async def answer(request: Request) -> Response:
            if not self._shelf.warming:
                return await page(request)
            begun = asyncio.ensure_future(page(request))
            done, _ = await asyncio.wait({begun}, timeout=_PATIENCE_SECONDS)
            if done:
                return begun.result()
            self._begun.add(begun)
            begun.add_done_callback(self._ended)
            waiting = self.rendered("wait.html", title="Getting ready", about=None, q="")
            waiting.headers["refresh"] = str(_AGAIN_SECONDS)
            waiting.headers["cache-control"] = "no-store"
            return waiting

        return answer

    def _ended(self, begun: asyncio.Future[Response]) -> None:
        self._begun.discard(begun)
        if not begun.cancelled():
            begun.exception()  # whoever asks again is told

    async def phrase(self, request: Request) -> Response:
        """Return the start page, or the page of a phrase with all panels."""
        q = _one(request, "q").strip()
        about = await self._about()
        if not q:
            return self.rendered("start.html", about=about, q="", title="")
        count = (await self._ask("count", phrase=[q])).rows[0]
        names = ["neighbours", "map", "contexts", "concordance", "paraphrases"]
        names[2:2] = ["syntax"] if self._has_table(about, SYNTAX) else []
        names += ["rules"] if about.rules is not None else []
        asked = {name: self._arguments(name, request, q) for name in names}
        wanted = _one(request, "paraphrases") == "1"
        panels = await asyncio.gather(
            *(self._panel(name, values, wait=wanted) for name, values in asked.items())
        )
        return self.rendered("phrase.html", about=about, q=q, title=q, count=count,
                             panels=dict(zip(asked, panels, strict=True)))  # fmt: skip

    async def panel(self, request: Request) -> Response:
        """Return one panel, which the page inserts."""
        name = request.path_params["name"]
        if name not in PANELS:
            raise HTTPException(404)
        q = _one(request, "q").strip()
        panel = await self._panel(name, self._arguments(name, request, q), wait=True)
        return self.rendered("panel.html", about=await self._about(), q=q, panel=panel, title="")

    async def compare(self, request: Request) -> Response:
        """Return the page that compares two phrases."""
        about = await self._about()
        values = {"a": _one(request, "a").strip(), "b": _one(request, "b").strip()}
        panel = None
        if values["a"] and values["b"]:
            panel = await self._panel("compare", values, wait=True)
        return self.rendered("compare.html", about=about, q="", title="Two phrases", panel=panel,
                             told=PANELS["compare"].told, a=values["a"], b=values["b"])  # fmt: skip

    async def sentence(self, request: Request) -> Response:
        """Return the page of a sentence, with substitutes of the chosen word."""
        about = await self._about()
        text = " ".join(_one(request, "s").split())
        _checked(text, LIMITS.sentence_characters)
        plain, first, stop = _marked(text)
        panel = None
        if plain and first < stop:
            panel = await self._panel("substitutes", {"sentence": _bracketed(plain, first, stop)},
                                      wait=True)  # fmt: skip
        choices = [_bracketed(plain, n, n + 1) for n in range(len(plain))]
        return self.rendered(
            "sentence.html", about=about, q="", title="In a sentence", panel=panel,
            words=list(zip(plain, choices, strict=True)), first=first, stop=stop,
            text=" ".join(plain), told=PANELS["substitutes"].told,
        )  # fmt: skip

    async def passage(self, request: Request) -> Response:
        """Return the page of the text around an occurrence."""
        given = {"at": _one(request, "at"), "words": _one(request, "words") or "1"}
        found = await self._ask("passage", **given)
        return self.rendered("passage.html", about=await self._about(), q=_one(request, "q"),
                             title="Passage", found=found)  # fmt: skip

    async def api(self, request: Request) -> Response:
        """Return the page that describes the API."""
        kinds = {Text: "text", Whole: "whole number", Choice: "choice"}
        return self.rendered("api.html", about=await self._about(), q="", title="API",
                             endpoints=ENDPOINTS.values(), prefix=PREFIX, faults=FAULTS,
                             kind=lambda one: kinds[type(one)])  # fmt: skip

    async def static(self, request: Request) -> Response:
        """Return a static file."""
        found = _STATIC.get(request.path_params["name"])
        if found is None:
            raise HTTPException(404)
        content, kind = found
        headers = {"cache-control": f"public, max-age={_KEPT_SECONDS}, immutable"}
        return Response(content, media_type=kind, headers=headers)

    async def icon(self, request: Request) -> Response:
        """Return the icon for browsers that ask for /favicon.ico."""
        return Response(_STATIC["icon.svg"][0], media_type="image/svg+xml")

    def rendered(self, template: str, status: int = 200, **values: Any) -> Response:
        """Return a page."""
        text = _TEMPLATES.get_template(template).render(panels_told=PANELS, **values)
        return Response(text.encode(errors="replace"), status, media_type=HTML)

    async def _about(self) -> About:
        found: About = await self._ask("about")
        return found

    async def _ask(self, name: str, **given: Any) -> Any:
        endpoint = ENDPOINTS[name]
        texts = {key: value if isinstance(value, list) else [value] for key, value in given.items()}
        return await self._shelf.ask(endpoint, endpoint.values(texts))

    async def _panel(self, name: str, given: Mapping[str, str], wait: bool) -> dict[str, Any]:
        """Return the content of a panel: its answer, its error, or that it is loaded later."""
        panel = PANELS[name]
        endpoint = ENDPOINTS[panel.endpoint]
        shown: dict[str, Any] = {"name": name, "given": dict(given), "answer": None, "fault": None,
                                 "endpoint": panel.endpoint, "waits": False}  # fmt: skip
        try:
            values = endpoint.values({key: [value] for key, value in given.items()})
            if panel.waits and not wait and not self._shelf.has(endpoint, values):
                shown["waits"] = True
                return shown
            shown["answer"] = await self._shelf.ask(endpoint, values)
        except _FAULTS as error:
            if isinstance(error, DamagedError):
                raise
            shown["fault"] = api.fault_of(error)[2]
        return shown

    def _arguments(self, name: str, request: Request, q: str) -> dict[str, str]:
        """Return a panel's arguments from an address; those of other panels are left out."""
        if name == "compare":
            return {"a": _one(request, "a"), "b": _one(request, "b")}
        if name == "substitutes":
            return {"sentence": _one(request, "s")}
        if name == "rules":
            return {"source": q}
        found = {"phrase": q}
        for key, panels in _SETTINGS.items():
            value = _one(request, key)
            if value and name in panels:
                found[key] = value
        if name == "syntax":
            found["table"] = SYNTAX
        return found

    def _has_table(self, about: About, name: str) -> bool:
        return any(table.name == name for table in about.tables)


# Arguments that an address may set beside the phrase, and the panels that they are for.
_SETTINGS = {
    "order": ("concordance",),
    "lengths": ("neighbours", "map", "syntax"),
    "window": ("contexts",),
    "weights": ("contexts",),
}


def _one(request: Request, name: str) -> str:
    value: str = request.query_params.get(name, "")
    return value


def _checked(text: str, most: int) -> None:
    if len(text) > most:
        raise ParameterError(f"the sentence has {len(text):,} characters: give {most:,} at most")


def _marked(text: str) -> tuple[list[str], int, int]:
    """Return (words, first, stop) of a sentence, the words in brackets as [first, stop)."""
    before, bracket, rest = text.partition("[")
    inside, closing, after = rest.partition("]")
    if not bracket or not closing or not inside.strip():
        return text.replace("[", " ").replace("]", " ").split(), 0, 0
    left = before.split()
    middle = inside.split()
    right = after.replace("[", " ").replace("]", " ").split()
    return left + middle + right, len(left), len(left) + len(middle)


def _bracketed(words: list[str], first: int, stop: int) -> str:
    marked = [*words[:first], "[" + " ".join(words[first:stop]) + "]", *words[stop:]]
    return " ".join(marked)


def _url(path: str, **given: Any) -> str:
    """Return an address with its arguments; empty ones are left out."""
    query = urlencode(
        [(name, str(value)) for name, value in given.items() if value not in ("", None)]
    )
    return f"{path}?{query}" if query else path


@lru_cache(_KEPT_MAPS)
def _map(found: Map) -> Markup:
    """Return the picture of a map."""
    marks = [Mark(one.phrase, one.x, one.y, one.similarity, one.count) for one in found.rows]
    joined = [(one.a, one.b) for one in found.links]
    drawing = draw_map(marks, joined, lambda phrase: _url("/", q=phrase))
    return Markup(drawing.svg())


def _bar(value: float | None, full: float = 1.0) -> Markup:
    """Return a bar whose length is proportional to a number."""
    share = 0.0 if value is None or full <= 0 else min(1.0, max(0.0, value / full))
    return Markup(
        '<svg class="bar" viewBox="0 0 100 8" preserveAspectRatio="none" aria-hidden="true">'
        '<rect class="track" width="100" height="8" rx="2"/>'
        f'<rect class="fill" width="{100 * share:.1f}" height="8" rx="2"/></svg>'
    )


def _static() -> dict[str, tuple[bytes, str]]:
    kinds = {"css": "text/css", "js": "text/javascript", "svg": "image/svg+xml"}
    folder = files("distsim.server") / "static"
    return {
        one.name: (one.read_bytes(), kinds[one.name.rpartition(".")[2]])
        for one in folder.iterdir()
        if one.name.rpartition(".")[2] in kinds
    }


_STATIC = _static()


def _asset(name: str) -> str:
    """Return the address of a static file, which contains its checksum."""
    return f"/static/{name}?{sha256(_STATIC[name][0]).hexdigest()[:12]}"


def _environment() -> Environment:
    made = Environment(
        loader=PackageLoader("distsim.server"), autoescape=True, undefined=StrictUndefined,
        trim_blocks=True, lstrip_blocks=True,
    )  # fmt: skip
    made.globals.update(url=_url, asset=_asset, map_picture=_map, bar=_bar, prefix=PREFIX)
    made.filters["thousands"] = lambda value: f"{value:,}"
    return made


_TEMPLATES = _environment()

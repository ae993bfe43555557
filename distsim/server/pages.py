"""The web pages; every panel is a table that works without JavaScript."""

import asyncio
import math
import re
from collections.abc import Awaitable, Callable, Iterator, Mapping
from dataclasses import dataclass
from functools import lru_cache, partial
from hashlib import sha256
from importlib.resources import files
from typing import Any, NamedTuple, get_args
from unicodedata import category
from urllib.parse import urlencode

from jinja2 import Environment, PackageLoader, StrictUndefined
from markupsafe import Markup
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from distsim.base.arguments import AssociationMeasure, KeywordMeasure, Layer
from distsim.base.errors import ParameterError
from distsim.grammar.pair_features import PAIR_KINDS
from distsim.output.phrase_map import Mark, draw_map
from distsim.server import api
from distsim.server.answers import About, Counts, Map, PhraseCount, Spellings
from distsim.server.api import FAULTS
from distsim.server.artifact_cache import ArtifactCache, DamagedError
from distsim.server.endpoints import (
    ENDPOINTS,
    EXPORT,
    PREFIX,
    ChoiceField,
    TextField,
    WholeField,
)
from distsim.server.session import MAIN, SYNTAX
from distsim.server.suggestions import as_found
from distsim.server.worker_queues import LIMITS, BusyError, KeptAnswers, TooLongError

HTML = "text/html"
Handler = Callable[[Request], Awaitable[Response]]
_FAULTS = (ParameterError, BusyError, TooLongError, DamagedError)
_FAULT_TITLES = {
    "damaged": "The index cannot be read", "not-found": "No such page", "busy": "Busy",
    "too-long": "Too long",
}  # fmt: skip
_PATIENCE_SECONDS, _AGAIN_SECONDS = 4.0, 3
_KEPT_MAPS = 100
_OF_ALL, _FREQUENT = (
    ("collocates", "frequency", "dispersion"),
    50_000,
)  # panels that count all occurrences
_KEPT_PAGE_BYTES = 4 << 20
_KEPT_SECONDS = 31_536_000  # of what is under a name that changes with it


@dataclass(frozen=True)
class Panel:
    """A part of a page.

    name: in addresses. title: its heading. explanation: what it shows. endpoint: whose
    answer it shows, by the template of that name.
    """

    name: str
    title: str
    explanation: str
    endpoint: str


PANELS = {
    panel.name: panel
    for panel in (
        Panel("neighbours", "Similar phrases",
              "Words that can stand in the place of a word, and phrases that occur in similar "
              "contexts. Similarity is a cosine: 1 for the same contexts, 0 for unrelated ones.",
              "neighbours"),
        Panel("map", "Map",
              "The similar phrases as points: the more similar, the closer. A line joins each "
              "phrase to its two nearest.", "map"),
        Panel("syntax", "Similar phrases by syntax",
              "Phrases that occur in similar grammatical relations.", "neighbours"),
        Panel("concordance", "Concordance",
              "Occurrences of the phrase in their sentences. The place of a line opens the text "
              "around it.", "concordance"),
        Panel("collocates", "Collocates",
              "Words near the phrase in its sentences, by an association measure.", "collocates"),
        Panel("contexts", "Contexts",
              "Words directly before and after the phrase, by weight: how much more often they "
              "occur there than by chance.", "contexts"),
        Panel("dispersion", "Dispersion",
              "Where in the corpus the phrase occurs: a bar for each hundredth of it, in order.",
              "dispersion"),
        Panel("sketch", "Word sketch",
              "Collocates of the word by grammatical relation, by logDice.", "sketch"),
        Panel("ngrams", "Word lists",
              "The most frequent words and phrases, with the number of documents they are in.",
              "ngrams"),
        Panel("frequency", "Frequency", "Occurrences by form, by file or by a field of the "
              "documents.", "frequency"),
        Panel("paraphrases", "Paraphrases",
              "Phrases that occur in the same gaps, and the gaps that both occur in.",
              "paraphrases"),
        Panel("rules", "Rules",
              "Rules of the grammar with the phrase on the left-hand side of the arrow, and the "
              "smaller pairs of phrases that each consists of.", "rules"),
        Panel("compare", "Two phrases",
              "Similarity of two phrases by every measure; contexts that both have and that only "
              "one has.", "compare"),
        Panel("substitutes", "In a sentence",
              "Words that can replace a word in its sentence.", "substitutes"),
        Panel("keywords", "Keywords",
              "Words that are more frequent here than in the reference corpus or in the other "
              "documents, or less frequent.", "keywords"),
        Panel("find-rules", "Rules of the grammar",
              "All rules, best first; search them by words of either side.", "find-rules"),
        Panel("rewrite", "Rewrite a text",
              "Sentences made simpler or shorter by rules of the grammar, with the evidence for "
              "each rule.", "rewrite"),
    )
}  # fmt: skip

# Arguments that the address of a phrase's page may have: for which panels, and their names there.
_NEIGHBOURS = dict.fromkeys(("neighbours", "map", "syntax"), "lengths")
_SETTINGS = {
    "order": {"concordance": "order"},
    "show": {"concordance": "k"},
    "skip": {"concordance": "skip"},
    "text": {"concordance": "width"},
    "fields": {"concordance": "fields"},
    "sample": {"concordance": "sample"},
    "lengths": _NEIGHBOURS,
    "window": {"contexts": "window"},
    "weights": {"contexts": "weights"},
    "span": {"collocates": "window"},
    "measure": {"collocates": "measure"},
    "least": {"collocates": "min_count"},
    "by": {"frequency": "by"},
    "where": dict.fromkeys(
        ("concordance", "collocates", "frequency", "dispersion", "sketch"), "where"
    ),
}


def routes(cache: ArtifactCache) -> list[Route]:
    """Return the routes of the pages and of their static files."""
    site = _Site(cache)
    return [
        Route("/", site.soon(site.phrase)),
        Route("/compare", site.soon(site.single("compare", "a", "b"))),
        Route("/words", site.soon(site.single("ngrams"))),
        Route("/sketch", site.soon(site.single("sketch", "phrase"))),
        Route("/keywords", site.soon(site.single("keywords"))),
        Route("/rules", site.soon(site.single("find-rules"))),
        Route("/rewrite", site.soon(site.single("rewrite", "text"))),
        Route("/sentence", site.soon(site.sentence)),
        Route("/passage", site.soon(site.passage)),
        Route("/api", site.soon(site.api)),
        Route("/panel/{name}", site.panel),
        Route("/static/{name}", site.static),
    ]


def as_page(cache: ArtifactCache, request: Request, error: Exception) -> Response:
    """Return the page that reports an error, with the HTTP status of the error."""
    status, code, message = api.fault_of(error)
    site = _Site(cache)
    q = _parameter(request, "q")[: LIMITS.phrase_characters]
    return site.rendered("fault.html", status, message=message, about=None, q=q,
                         title=_FAULT_TITLES.get(code, "Cannot be answered"))  # fmt: skip


def _is_lasting(page: Response) -> bool:
    """Return whether a page is an answer, without a fault that may be over in a moment."""
    return page.status_code == 200 and b" data-passes>" not in bytes(page.body)


class _Site:
    """Renders pages from a cache's answers."""

    def __init__(self, cache: ArtifactCache) -> None:
        self._cache = cache
        self._begun: set[asyncio.Future[Response]] = set()
        self._kept = KeptAnswers(
            math.inf, _KEPT_PAGE_BYTES, lambda page: len(page.body), _is_lasting
        )

    def soon(self, page: Handler) -> Handler:
        """Return a handler that returns the page, or during warm-up a page that asks to wait.

        That one asks for itself again; the work that was begun goes on, and its answers are kept.
        The last pages are kept, too.
        """

        async def answer(request: Request) -> Response:
            if not self._cache.is_warming_up:
                return await self._kept_or(page, request)
            begun = asyncio.ensure_future(page(request))
            done, _ = await asyncio.wait({begun}, timeout=_PATIENCE_SECONDS)
            if done:
                return begun.result()
            self._begun.add(begun)
            begun.add_done_callback(self._ended)
            waiting = self.rendered("wait.html", title="Getting ready", about=None, q="",
                                    progress=self._cache.progress)  # fmt: skip
            waiting.headers["refresh"] = str(_AGAIN_SECONDS)
            waiting.headers["cache-control"] = "no-store"
            return waiting

        return answer

    async def _kept_or(self, page: Handler, request: Request) -> Response:
        """Return the page as it was answered before, where nothing has changed since."""
        self._cache.look()
        if self._cache.fault is not None:
            return await page(request)
        key = self._cache.times_opened, request.scope["path"], request.scope["query_string"]
        kept_page: Response = await self._kept.of(key, lambda: page(request))
        return kept_page

    def _ended(self, begun: asyncio.Future[Response]) -> None:
        self._begun.discard(begun)
        if not begun.cancelled():
            begun.exception()  # whoever asks again is told

    async def phrase(self, request: Request) -> Response:
        """Return the start page, or the page of a phrase with all panels."""
        q = _parameter(request, "q").strip()
        about = await self._about()
        if not q:
            return self.rendered("start.html", about=about, q="", title="")
        here = _here(request)
        where = here.get("where", "")
        count = (await self._ask("count", phrase=[q], where=where)).rows[0]
        unknown = not count.count and not where
        spelled = await self._ask("spellings", phrase=q) if unknown else None
        names = _panels_of(about, count, spelled)
        wanted = _parameter(request, "paraphrases") == "1"
        late = (
            [] if wanted else ["paraphrases", *_OF_ALL[: 3 * (count.count > _FREQUENT)], "sketch"]
        )
        panels = await asyncio.gather(
            *(self._panel(name, _arguments(name, here), name not in late) for name in names)
        )
        return self.rendered("phrase.html", about=about, q=q, title=q, count=count, here=here,
                             spelled=spelled, panels=dict(zip(names, panels, strict=True)),
                             written=await self._written(Counts((count,)), spelled),
                             )  # fmt: skip

    async def panel(self, request: Request) -> Response:
        """Return one panel, which the page inserts."""
        name = request.path_params["name"]
        if name not in PANELS:
            raise HTTPException(404)
        here = _here(request)
        panel = await self._panel(name, _arguments(name, here), wait=True)
        return self.rendered("panel.html", about=await self._about(), q=here["q"], panel=panel,
                             title="", here=here)  # fmt: skip

    def single(self, name: str, *needed: str) -> Handler:
        """Return the handler of a page with a form and one panel.

        needed: the arguments without which the form is alone.
        """
        endpoint = ENDPOINTS[PANELS[name].endpoint]

        async def page(request: Request) -> Response:
            texts = {
                argument.name: _parameter(request, argument.name).strip()
                for argument in endpoint.arguments
            }
            panel = None
            if all(texts[name] for name in needed):
                asked = {key: value for key, value in texts.items() if value}
                panel = await self._panel(name, asked, wait=True)
            return self.rendered(f"{name}.html", about=await self._about(), q="", panel=panel,
                                 title=PANELS[name].title, explanation=PANELS[name].explanation,
                                 given=texts, here={})  # fmt: skip

        return page

    async def sentence(self, request: Request) -> Response:
        """Return the page of a sentence, with substitutes of the chosen word."""
        about = await self._about()
        text = " ".join(_parameter(request, "s").split())
        plain, first, stop = _marked(text)
        panel = None
        if first < stop:
            sentence = _bracketed(plain, first, stop)
            panel = await self._panel("substitutes", {"sentence": sentence}, wait=True)
        return self.rendered(
            "sentence.html", about=about, q="", title="In a sentence", panel=panel,
            pieces=_pieces(plain, first, stop), text=plain,
            explanation=PANELS["substitutes"].explanation, here={},
        )  # fmt: skip

    async def passage(self, request: Request) -> Response:
        """Return the page of the text around an occurrence."""
        texts = {"at": _parameter(request, "at"), "words": _parameter(request, "words") or "1"}
        passage = await self._ask("passage", **texts)
        return self.rendered("passage.html", about=await self._about(), q=_parameter(request, "q"),
                             title="Passage", found=passage)  # fmt: skip

    async def api(self, request: Request) -> Response:
        """Return the page that describes the API."""
        kinds = {
            TextField: "text",
            WholeField: "whole number",
            ChoiceField: "choice",
        }
        return self.rendered("api.html", about=await self._about(), q="", title="API",
                             endpoints=(*ENDPOINTS.values(), EXPORT), faults=FAULTS,
                             kind=lambda answer: kinds[type(answer)])  # fmt: skip

    async def static(self, request: Request) -> Response:
        """Return a static file."""
        content_and_kind = _STATIC.get(request.path_params["name"])
        if content_and_kind is None:
            raise HTTPException(404)
        content, kind = content_and_kind
        headers = {"cache-control": f"public, max-age={_KEPT_SECONDS}, immutable"}
        return Response(content, media_type=kind, headers=headers)

    def rendered(self, template: str, status: int = 200, **values: Any) -> Response:
        """Return a page."""
        text = _TEMPLATES.get_template(template).render(all_panels=PANELS, **values)
        return Response(text.encode(errors="replace"), status, media_type=HTML)

    async def _about(self) -> About:
        about: About = await self._ask("about")
        return about

    async def _ask(self, name: str, **texts_of_names: Any) -> Any:
        endpoint = ENDPOINTS[name]
        texts = {
            key: value if isinstance(value, list) else [value]
            for key, value in texts_of_names.items()
        }
        return await self._cache.ask(endpoint, endpoint.values(texts))

    async def _written(self, *answers: Any) -> dict[str, str]:
        """Return how the phrases of answers are written in the text, by phrase."""
        phrases = [phrase for answer in answers for phrase in _phrases(answer)]
        return await self._cache.run(partial(as_found, self._cache.opened, phrases))

    async def _panel(
        self, name: str, texts_of_names: Mapping[str, str], wait: bool
    ) -> dict[str, Any]:
        """Return the content of a panel: its answer, its error, or that it is loaded later."""
        panel = PANELS[name]
        endpoint = ENDPOINTS[panel.endpoint]
        shown: dict[str, Any] = {"name": name, "given": dict(texts_of_names), "answer": None,
                                 "fault": None, "endpoint": panel.endpoint, "waits": False,
                                 "written": {}}  # fmt: skip
        try:
            values = endpoint.values({key: [value] for key, value in texts_of_names.items()})
            if not wait and not self._cache.has(endpoint, values):
                shown["waits"] = True
                return shown
            shown["answer"] = await self._cache.ask(endpoint, values)
            shown["written"] = await self._written(shown["answer"])
        except _FAULTS as error:
            if isinstance(error, DamagedError):
                raise
            shown["fault"] = api.fault_of(error)[2]
            shown["passes"] = not isinstance(error, ParameterError)
        return shown


def _panels_of(about: About, count: PhraseCount, spelled: Spellings | None) -> list[str]:
    """Return the panels of a phrase's page; those alone that can have an answer."""
    table_names = [table.name for table in about.tables]
    rules = ["rules"] if about.rules is not None and count.kind == "phrase" else []
    similar = [*["neighbours"][: MAIN in table_names], *["syntax"][: SYNTAX in table_names]]
    if spelled is not None:  # it does not occur; of known words a vector can be composed
        return (
            similar
            if spelled.words and all(spelled_word.count for spelled_word in spelled.words)
            else []
        )
    text = ["concordance", "collocates"]
    if count.kind != "phrase":
        return [*text, "frequency", "dispersion"]
    similar = ["neighbours", "map", *similar[1:]]
    parts = ["frequency"] if about.files > 1 or about.fields else []
    parts += ["dispersion", *["sketch"][: "relation" in about.layers]]
    return [*similar, *text, "contexts", *parts, "paraphrases", *rules]


def _phrases(answer: Any) -> Iterator[str]:
    """Yield the phrases that an answer shows."""
    names = ["phrase", "word", "substitute", *["name"][: getattr(answer, "by", "") == "form"]]
    for part in vars(answer).values() if answer else ():
        for row in part if isinstance(part, tuple) else (part,):
            yield from (getattr(row, name) for name in names if hasattr(row, name))


def _here(request: Request) -> dict[str, str]:
    """Return the arguments of a phrase's page that its address has."""
    settings = {key: value for key in _SETTINGS if (value := _parameter(request, key))}
    # Of the form without scripts; together they are `order`.
    places = [place for n in "123" if (place := _parameter(request, f"sort{n}"))]
    if places:
        settings["order"] = ",".join(places)
    return {"q": _parameter(request, "q").strip()} | settings


def _arguments(name: str, here: dict[str, str]) -> dict[str, str]:
    """Return a panel's arguments of those that an address has."""
    if name == "rules":
        return {"source": here["q"]}
    arguments = {"phrase": here["q"]} | ({"table": SYNTAX} if name == "syntax" else {})
    return arguments | {
        panels[name]: here[key]
        for key, panels in _SETTINGS.items()
        if key in here and name in panels
    }


def _parameter(request: Request, name: str) -> str:
    value: str = request.query_params.get(name, "")
    return value


def _marked(text: str) -> tuple[str, int, int]:
    """Return (a sentence without brackets; where what the first ones enclose begins and ends)."""
    before, _, rest = text.partition("[")
    inside, closing, after = rest.partition("]")
    inside = inside.strip() if closing else ""
    if not inside:
        return " ".join(text.replace("[", " ").replace("]", " ").split()), 0, 0
    plain = before.replace("]", " ") + inside
    after = after.replace("[", " ").replace("]", " ")
    return plain + after, len(plain) - len(inside), len(plain)


class _SelectableWord(NamedTuple):
    """A word of a sentence that can be chosen.

    word: as written. choice: the sentence with the word in brackets. is_chosen: it is in brackets
    now. behind: the marks up to the next word.
    """

    word: str
    choice: str
    is_chosen: bool
    behind: str


def _pieces(plain: str, first: int, stop: int) -> list[_SelectableWord]:
    """Return the words of a sentence without the punctuation at their edges."""
    pieces, at = [_SelectableWord("", "", False, "")], 0
    for match in re.finditer(r"\S+", plain):
        begin, end = match.span()
        while begin < end and category(plain[begin])[0] == "P":
            begin += 1
        while begin < end and category(plain[end - 1])[0] == "P":
            end -= 1
        if begin < end:
            pieces[-1] = pieces[-1]._replace(behind=plain[at:begin])
            choice = _bracketed(plain, begin, end)
            pieces.append(
                _SelectableWord(plain[begin:end], choice, first <= begin and end <= stop, "")
            )
            at = end
    pieces[-1] = pieces[-1]._replace(behind=plain[at:])
    return pieces


def _bracketed(plain: str, first: int, stop: int) -> str:
    return f"{plain[:first]}[{plain[first:stop]}]{plain[stop:]}"


def _link(here: dict[str, str], panel: str, **changed: Any) -> str:
    """Return the address of a phrase's page with changed settings, at a panel."""
    return f"{_url('/', **(here | changed))}#{panel}"


def _url(path: str, **arguments: Any) -> str:
    """Return an address with its arguments; empty ones are left out."""
    query = urlencode(
        [(name, str(value)) for name, value in arguments.items() if value not in ("", None)]
    )
    return f"{path}?{query}" if query else path


def _map(layout: Map, written: Mapping[str, str]) -> Markup:
    """Return the picture of a map, its phrases as they are written in the text."""
    return _map_of(layout, tuple(written.get(row.phrase, row.phrase) for row in layout.rows))


@lru_cache(_KEPT_MAPS)
def _map_of(layout: Map, phrases: tuple[str, ...]) -> Markup:
    marks = [
        Mark(phrase, row.x, row.y, row.similarity, row.count)
        for phrase, row in zip(phrases, layout.rows, strict=True)
    ]
    normal = {mark.phrase: row.phrase for mark, row in zip(marks, layout.rows, strict=True)}
    joined = [(link.a, link.b) for link in layout.links]
    drawing = draw_map(marks, joined, lambda phrase: _url("/", q=normal[phrase]))
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
        file.name: (file.read_bytes(), kinds[file.name.rpartition(".")[2]])
        for file in folder.iterdir()
        if file.name.rpartition(".")[2] in kinds
    }


_STATIC = _static()


def _asset(name: str) -> str:
    """Return the address of a static file, which contains its checksum."""
    return f"/static/{name}?{sha256(_STATIC[name][0]).hexdigest()[:12]}"


def _environment() -> Environment:
    environment = Environment(
        loader=PackageLoader("distsim.server"), autoescape=True, undefined=StrictUndefined,
        trim_blocks=True, lstrip_blocks=True,
    )  # fmt: skip
    environment.globals.update(
        url=_url, link=_link, asset=_asset, map_picture=_map, bar=_bar, prefix=PREFIX,
        layers=get_args(Layer), association_measures=get_args(AssociationMeasure),
        keyword_measures=get_args(KeywordMeasure), pair_kinds=PAIR_KINDS,
    )  # fmt: skip
    environment.filters["thousands"] = lambda value: f"{value:,}"
    return environment


_TEMPLATES = _environment()

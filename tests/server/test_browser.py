"""The page in a real browser, used as a person would; a server under many visitors."""

import re
import shutil
import signal
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from importlib.util import find_spec
from pathlib import Path
from urllib.parse import urlencode

import pytest

from distsim import CorpusIndex
from distsim.grammar.packs.pack import PackOptions, pack_grammar
from tests.conftest import PROJECT
from tests.server.test_server import GRAMMAR, HOSTILE

pytestmark = pytest.mark.extra

pytest.importorskip("uvicorn", reason="the extra serve is not installed")
httpx = pytest.importorskip("httpx", reason="needs httpx")
WAIT = 120  # seconds for what a slow machine has to compile first
TEXT = "The queen said so. The rabbit ran."
VIEWS = (
    "/",
    "/?q=alice&paraphrases=1",
    "/?q=the+queen&order=1L,2R&span=3&by=file",
    "/?q=mock+turt*",
    "/?q=the+_+turtle",
    "/?q=alise",
    "/?q=queen+rabbit",
    "/keywords",
    "/words",
    "/words?lengths=2-3&containing=queen",
    "/sketch",
    "/?q=the+queen&text=p",
    "/rules",
    "/rules?text=queen&kind=content",
    "/rewrite",
    "/rewrite?" + urlencode({"text": TEXT}),
    "/compare",
    "/compare?a=alice&b=the+queen",
    "/sentence?s=said+the+[king]+to+alice",
    "/passage?at=100&q=alice",
    "/api",
    "/nowhere",
)


@contextmanager
def served(*arguments):
    """Give the address of a server of its own, and the process."""
    command = [sys.executable, "-m", "distsim.cli.start", "serve", *map(str, arguments)]
    process = subprocess.Popen(
        [*command, "--port", "0"], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    )
    try:
        address = process.stdout.readline().strip().rstrip("/")
        assert address, process.stderr.read()
        yield address, process
    finally:
        process.terminate()
        process.communicate()


@pytest.fixture(scope="module")
def server(alice_index, tmp_path_factory):
    folder = tmp_path_factory.mktemp("served")
    grammar = folder / "rules"
    grammar.write_text(GRAMMAR, encoding="utf-8")
    pack_grammar(grammar, folder / "pack", options=PackOptions(weights={"p": -1.0}))
    (folder / "tea.txt").write_text("tea and more tea\n" * 30, encoding="utf-8")
    other = CorpusIndex.build(folder / "tea.txt", folder / "other", options=alice_index.options)
    arguments = (alice_index.path, "--grammar", folder / "pack", "--against", other.path)
    with served(*arguments, "--no-log") as (address, _):
        with httpx.Client(timeout=WAIT) as client:  # what is compiled is compiled once
            while not client.get(address + "/api/v1/health").json()["ready"]:
                pass
            for view in VIEWS:
                client.get(address + view)
        yield address


def browser_of(scripts=True):
    selenium = pytest.importorskip("selenium.webdriver", reason="needs selenium")
    if shutil.which("chromium") is None or shutil.which("chromedriver") is None:
        pytest.skip("needs chromium and chromium-driver of Debian")
    from selenium.webdriver.chrome.service import Service

    options = selenium.ChromeOptions()
    options.binary_location = shutil.which("chromium")
    for argument in ("--headless=new", "--no-sandbox", "--disable-gpu", "--window-size=1280,900"):
        options.add_argument(argument)
    options.set_capability("goog:loggingPrefs", {"browser": "ALL"})
    if not scripts:
        settings = {"profile.managed_default_content_settings.javascript": 2}
        options.add_experimental_option("prefs", settings)
    driver = selenium.Chrome(options=options, service=Service(shutil.which("chromedriver")))
    driver.set_page_load_timeout(WAIT)
    return driver


@pytest.fixture(scope="module")
def chromium():
    driver = browser_of()
    yield driver
    driver.quit()


def wait(browser, condition):
    from selenium.webdriver.support.ui import WebDriverWait

    return WebDriverWait(browser, WAIT, ignored_exceptions=[Exception]).until(condition)


def one(browser, css):
    return wait(browser, lambda b: b.find_element("css selector", css))


def click(browser, css):
    """Click what a person would first scroll to the middle of the screen."""
    element = one(browser, css)
    browser.execute_script("arguments[0].scrollIntoView({block: 'center'})", element)
    element.click()


def texts(browser, css):
    return [element.text for element in browser.find_elements("css selector", css)]


def bare(phrases):
    """Return phrases as they are written in the normal form, but without blanks."""
    return [phrase.lower().replace(" ", "") for phrase in phrases]


def screen(browser, width, scheme="light"):
    browser.execute_cdp_cmd(
        "Emulation.setEmulatedMedia",
        {"features": [{"name": "prefers-color-scheme", "value": scheme}]},
    )
    browser.execute_cdp_cmd(
        "Emulation.setDeviceMetricsOverride",
        {"width": width, "height": 900, "deviceScaleFactor": 1, "mobile": width < 500},
    )


def complaints(browser):
    return [
        entry["message"]
        for entry in browser.get_log("browser")
        if "favicon" not in entry["message"]
    ]


def axe_complaints(browser):
    """Return what axe-core finds wrong on the page."""
    package = find_spec("axe_playwright_python")  # of which axe-core alone is used
    if package is None:
        pytest.skip("needs axe-playwright-python")
    axe = Path(package.origin).parent / "axe.min.js"
    browser.execute_cdp_cmd("Runtime.evaluate", {"expression": axe.read_text(encoding="utf-8")})
    return browser.execute_async_script(
        "const done = arguments[0]; axe.run().then(r => done(r.violations.map(v =>"
        " v.id + ': ' + v.nodes.map(n => `${n.target} ${n.failureSummary}`).join('; '))))"
    )


def test_a_phrase_is_completed_and_looked_up_by_keyboard(chromium, server):
    from selenium.webdriver.common.keys import Keys

    screen(chromium, 1280)
    chromium.get(server + "/")
    field = one(chromium, "#q-large")
    assert field == chromium.switch_to.active_element
    field.send_keys("mock t")
    option = one(chromium, "#q-large-options li")
    assert option.text.startswith("mock turtle")
    assert field.get_attribute("aria-expanded") == "true"
    field.send_keys(Keys.ARROW_DOWN)
    assert field.get_attribute("aria-activedescendant") == option.get_attribute("id")
    field.send_keys(Keys.ENTER)
    assert wait(chromium, lambda b: "q=mock+turtle" in b.current_url)
    assert one(chromium, "h1").text == "Mock Turtle"  # as the text has it mostly
    one(chromium, "body").send_keys("/")
    assert chromium.switch_to.active_element == one(chromium, "#q")
    assert complaints(chromium) == []


def test_every_panel_of_a_phrase_by_clicking(chromium, server):
    chromium.get(server + "/?" + urlencode({"q": "the queen"}))
    wait(
        chromium,
        lambda b: b.find_elements("css selector", "#paraphrases tbody tr, #paraphrases .fault"),
    )
    names = ["neighbours", "map", "concordance", "collocates", "contexts", "dispersion",
             "paraphrases", "rules"]  # fmt: skip
    assert [
        s.get_attribute("id") for s in chromium.find_elements("css selector", "section.panel")
    ] == names
    assert all(texts(chromium, f"#{name} .told")[0] for name in names)
    chromium.execute_script("window.stays = 1")

    before = texts(chromium, "#contexts tbody tr")
    click(chromium, "#contexts .settings a[href*='window=2']")
    wait(chromium, lambda b: texts(b, "#contexts .settings strong")[0] == "2")
    assert texts(chromium, "#contexts tbody tr") != before
    click(chromium, "#neighbours .settings a[href*='lengths=1']")
    wait(chromium, lambda b: texts(b, "#neighbours .settings strong") == ["1 word"])
    assert all(" " not in text for text in texts(chromium, "#neighbours tbody th"))
    assert chromium.execute_script("return window.stays") == 1  # panels changed, not the page
    assert "lengths=1" in chromium.current_url and "window=2" in chromium.current_url

    assert next(row.split() for row in texts(chromium, "#rules .parts li"))[:3] == [
        "the",
        "→",
        "the",
    ]
    click(chromium, "#rules summary")
    assert "0.5" in one(chromium, "#rules .features").text

    focal = texts(chromium, "#map text")
    link = one(chromium, "#map svg a")
    phrase = link.find_element("css selector", "text").text
    assert phrase in focal
    click(chromium, "#map svg a text")
    wait(chromium, lambda b: one(b, "h1").text == phrase)
    click(chromium, "#neighbours .phrase")
    wait(chromium, lambda b: one(b, "h1").text != phrase)
    assert complaints(chromium) == []


def sort_by(browser, *places):
    for number, place in enumerate(places, 1):
        click(browser, f"#concordance select[name=sort{number}] option[value='{place}']")
    click(browser, "#concordance form button")


def test_a_sorted_concordance_is_paged_and_back_works(chromium, server):
    def lines(browser):
        return texts(browser, "#concordance tbody tr")

    chromium.get(server + "/?q=alice")
    plain = lines(chromium)
    sort_by(chromium, "1R", "2R", "1L")
    wait(chromium, lambda b: lines(b) != plain)
    ordered = lines(chromium)
    asked = {"phrase": "alice", "order": "1R,2R,1L"}
    rows = httpx.get(server + "/api/v1/concordance", params=asked).json()["rows"]
    assert texts(chromium, "#concordance td.right") == [" ".join(r["right"].split()) for r in rows]
    assert "order=1R%2C2R%2C1L" in chromium.current_url
    click(chromium, "#concordance a[rel=next]")
    wait(chromium, lambda b: texts(b, "#concordance .pager")[0].startswith("21 to 40 of 397"))
    second = lines(chromium)
    chromium.back()
    wait(chromium, lambda b: lines(b) == ordered)
    chromium.back()
    wait(chromium, lambda b: lines(b) == plain)
    chromium.forward()
    wait(chromium, lambda b: lines(b) == ordered)
    chromium.refresh()
    wait(chromium, lambda b: lines(b) == ordered)
    chromium.forward()
    wait(chromium, lambda b: lines(b) == second)
    chromium.get(server + "/?q=queen")
    chromium.back()
    wait(chromium, lambda b: lines(b) == second)
    assert complaints(chromium) == []


def test_a_map_is_zoomed_moved_and_filtered(chromium, server):
    def view():
        return [float(one) for one in one_map().get_dom_attribute("viewBox").split()]

    def one_map():
        return one(chromium, "#map svg.picture")

    def seen():
        shown = "#map svg a:not(.out) text"
        return texts(chromium, shown)

    screen(chromium, 1400)
    chromium.get(server + "/?q=alice")
    full, every = view(), seen()
    click(chromium, "#map [data-zoom='0.7']")
    assert view()[2] == pytest.approx(0.7 * full[2], rel=0.01)
    from selenium.webdriver.common.keys import Keys

    frame, before = one(chromium, "#map .frame"), view()
    frame.send_keys(Keys.ARROW_RIGHT)
    assert view()[0] > before[0] and view()[2] == before[2]
    frame.send_keys("+")
    assert view()[2] < before[2]
    click(chromium, "#map [data-zoom='0']")
    assert view() == full
    one(chromium, "#map [data-filter]").send_keys(every[0][:3])
    assert every[0] in seen() and len(seen()) < len(every)
    one(chromium, "#map [data-filter]").clear()
    least = one(chromium, "#map [data-least]")
    for _ in range(19):
        least.send_keys(Keys.ARROW_RIGHT)
    near = {row.split()[0] for row in texts(chromium, "#neighbours tbody tr")
            if float(re.search(r"0\.\d{3}", row)[0]) >= 0.95}  # fmt: skip
    assert len(seen()) == len(near)
    screen(chromium, 1280)


def test_unknown_phrases_queries_and_collocates(chromium, server):
    chromium.get(server + "/?q=alise")
    assert "does not occur" in one(chromium, ".summary .fault").text
    click(chromium, ".spelled a")
    wait(chromium, lambda b: one(b, "h1").text != "alise")
    chromium.get(server + "/?q=" + "mock+turt*")
    wait(chromium, lambda b: "Read as a query" in one(b, ".summary").text)
    assert texts(chromium, "#frequency tbody th") == ["Mock Turtle"]
    before = texts(chromium, "#collocates tbody tr")
    click(chromium, "#collocates a[href*='measure=t']")
    wait(chromium, lambda b: texts(b, "#collocates tbody tr") != before)
    click(chromium, "#frequency a[href*='by=file']")
    wait(chromium, lambda b: texts(b, "#frequency tbody th") != ["Mock Turtle"])
    chromium.get(server + "/?" + urlencode({"q": "turtle [lemma=x]"}))
    assert "outside the query language" in one(chromium, ".lead").text
    assert one(chromium, "#q").get_attribute("value") == "turtle [lemma=x]"
    assert len(complaints(chromium)) == 1  # the status 400 of the last one


def test_word_lists_and_the_concordance_first(chromium, server):
    chromium.get(server + "/words")
    assert texts(chromium, "#ngrams tbody th")[:1] == ["the"]
    field = one(chromium, "input[name=lengths]")
    field.clear()
    field.send_keys("2")
    click(chromium, ".wide button")
    wait(chromium, lambda b: " " in texts(b, "#ngrams tbody th")[0])
    chromium.get(server + "/?q=alice")

    def order(browser):
        places = [one(browser, f"#{name}").location["y"] for name in ("concordance", "neighbours")]
        return places[0] < places[1]

    assert not order(chromium)
    click(chromium, "button.first")
    assert order(chromium)
    chromium.get(server + "/?q=the+queen")
    assert order(chromium)  # the browser remembers it
    click(chromium, "button.first")
    assert not order(chromium)
    click(chromium, "#concordance a[data-set='text=p']")
    wait(chromium, lambda b: "paragraph" in texts(b, "#concordance .settings strong"))
    assert one(chromium, "#dispersion svg.plot rect")


def test_rules_keywords_and_rewriting(chromium, server):
    chromium.get(server + "/rules")
    assert len(texts(chromium, "#find-rules tbody tr")) == 3
    one(chromium, "#text").send_keys("a quee*")
    click(chromium, ".wide button")
    wait(chromium, lambda b: len(texts(b, "#find-rules tbody tr")) == 1)
    click(chromium, "#find-rules summary")
    assert "0.25" in one(chromium, "#find-rules .features").text
    chromium.get(server + "/keywords")
    assert texts(chromium, "#keywords tbody th")
    click(chromium, "select[name=direction] option[value=less]")
    click(chromium, ".wide button")
    wait(chromium, lambda b: texts(b, "#keywords tbody th")[:1] == ["tea"])
    chromium.get(server + "/rewrite")
    field = one(chromium, "#text")
    field.clear()
    field.send_keys(TEXT)
    click(chromium, "input[value=shorten]")
    click(chromium, ".wide button")
    wait(chromium, lambda b: len(texts(b, ".rewritten")) == 2)
    assert one(chromium, "input[value=shorten]").is_selected()
    assert one(chromium, "#text").get_attribute("value") == TEXT
    assert complaints(chromium) == []


@pytest.mark.parametrize("width", [400, 1400])
def test_documents_are_filtered_by_fields(chromium, tmp_path, width):
    from selenium.webdriver.common.keys import Keys

    texts_by_year = {1850: "tea and tea for the queen .", 1851: "wine for the queen ."}
    url = "https://example.org/" + "letters" * 20
    rows = [{"text": text, "year": year, "url": url} for year, text in texts_by_year.items()]
    index = CorpusIndex.from_texts(rows, tmp_path / "index")
    screen(chromium, width)
    with served(index.path, "--no-log") as (address, _):
        chromium.get(address + "/?q=queen")
        wait(chromium, lambda b: texts(b, ".facts dd")[0] == "2")
        click(chromium, "#frequency a[href*='by=year']")
        wait(chromium, lambda b: texts(b, "#frequency tbody th") == ["1850", "1851"])
        tab_to(chromium, "#where")
        press(chromium, "year=1851..", Keys.ENTER)
        wait(chromium, lambda b: texts(b, ".facts dd")[0] == "1")
        assert "wine" in one(chromium, "#concordance tbody").text
        click(chromium, "#concordance summary")
        click(chromium, "#concordance a[data-set='fields=year']")
        wait(chromium, lambda b: texts(b, "#concordance td.field") == ["1851"])
        click(chromium, "#concordance a[data-set='fields=year,url']")
        wait(chromium, lambda b: len(texts(b, "#concordance td.field")) == 2)
        assert "fields=year%2Curl" in chromium.current_url and "where=year" in chromium.current_url
        chromium.back()
        wait(chromium, lambda b: texts(b, "#concordance td.field") == ["1851"])
        link = one(chromium, "#concordance .place a").rect
        assert link["x"] + link["width"] <= width
        assert texts(chromium, "#frequency tbody th") == ["1851"]
        assert axe_complaints(chromium) == []
        click(chromium, "#concordance .place a")
        assert "year: 1851" in one(chromium, ".lead").text
        assert chromium.execute_script("return document.documentElement.scrollWidth") <= width
    screen(chromium, 1280)


def press(browser, *keys):
    from selenium.webdriver.common.action_chains import ActionChains

    ActionChains(browser).send_keys(*keys).perform()


def tab_to(browser, css):
    """Press Tab until an element has the focus, as who has no mouse does."""
    from selenium.webdriver.common.keys import Keys

    for _ in range(200):
        if browser.execute_script("return document.activeElement.matches(arguments[0])", css):
            outline = "return getComputedStyle(document.activeElement).outlineStyle"
            assert browser.execute_script(outline) != "none", css
            return
        press(browser, Keys.TAB)
    raise AssertionError(f"{css} is not reached by Tab")


@pytest.mark.parametrize("width", [400, 1400])
@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_a_visit_by_keyboard_alone(chromium, server, width, scheme):
    from selenium.webdriver.common.keys import Keys

    screen(chromium, width, scheme)
    chromium.get(server + "/")
    press(chromium, "the qween", Keys.ENTER)
    wait(chromium, lambda b: "does not occur" in one(b, ".summary .fault").text)
    tab_to(chromium, ".spelled a")
    press(chromium, Keys.ENTER)
    wait(chromium, lambda b: one(b, "h1").text == "the Queen")
    tab_to(chromium, "#map [data-zoom='0.7']")
    press(chromium, Keys.SPACE)
    assert one(chromium, "#map svg.picture").get_dom_attribute("viewBox").split()[0] != "0.0"
    tab_to(chromium, "#concordance select[name=sort1]")
    press(chromium, "1 r")
    tab_to(chromium, "#concordance form button")
    press(chromium, Keys.ENTER)
    wait(chromium, lambda b: "order=1R" in b.current_url)
    heading = "return document.activeElement.id"
    wait(chromium, lambda b: b.execute_script(heading) == "concordance-title")
    tab_to(chromium, "#concordance a[rel=next]")
    press(chromium, Keys.ENTER)
    wait(chromium, lambda b: texts(b, "#concordance .pager")[0].startswith("21 to"))
    tab_to(chromium, "#collocates .settings a[href*='span=10']")
    press(chromium, Keys.ENTER)
    wait(chromium, lambda b: "10" in texts(b, "#collocates .settings strong"))
    chromium.back()
    wait(chromium, lambda b: "10" not in texts(b, "#collocates .settings strong"))
    press(chromium, "/", "mock turt*", Keys.ENTER)
    wait(chromium, lambda b: one(b, "h1").text == "mock turt*")
    tab_to(chromium, "#frequency .settings a")
    press(chromium, Keys.ENTER)
    wait(chromium, lambda b: texts(b, "#frequency .settings strong") == ["file"])
    chromium.get(server + "/rewrite")
    tab_to(chromium, "#text")
    press(chromium, TEXT, Keys.TAB, Keys.ARROW_RIGHT)
    tab_to(chromium, ".wide button")
    press(chromium, Keys.ENTER)
    wait(chromium, lambda b: "aim=shorten" in b.current_url and texts(b, ".rewritten"))
    chromium.get(server + "/rules")
    tab_to(chromium, "#text")
    press(chromium, "queen", Keys.ENTER)
    wait(chromium, lambda b: "text=queen" in b.current_url)
    tab_to(chromium, "#find-rules summary")
    press(chromium, Keys.ENTER)
    assert one(chromium, "#find-rules details").get_attribute("open")
    screen(chromium, 1280)


def test_a_line_opens_its_passage(chromium, server):
    chromium.get(server + "/?q=turtle")
    click(chromium, "#concordance .place a")
    assert one(chromium, "mark").text == "Turtle"
    click(chromium, ".lead a")
    assert one(chromium, "h1").text == "Turtle"


def test_two_phrases_from_a_neighbour(chromium, server):
    chromium.get(server + "/?q=alice")
    click(chromium, "#neighbours .act a")
    assert one(chromium, "#a").get_attribute("value") == "alice"
    assert "exact" in texts(chromium, ".measures th")
    field = one(chromium, "#b")
    field.clear()
    field.send_keys("the king")
    click(chromium, ".pair button")
    wait(chromium, lambda b: "the King" in texts(b, ".measures th"))
    assert len(texts(chromium, ".three h3")) == 3


@pytest.mark.parametrize(("width", "scheme"), [(400, "dark"), (1400, "light")])
def test_phrases_are_shown_as_they_are_written(chromium, server, width, scheme):
    screen(chromium, width, scheme)
    chromium.get(server + "/?q=alice&paraphrases=1")
    near = texts(chromium, "#neighbours .phrase")
    asked = {"phrase": "alice", "k": 20}
    rows = httpx.get(server + "/api/v1/neighbours", params=asked).json()["rows"]
    assert bare(near) == [row["phrase"].replace(" ", "") for row in rows]
    assert "the Duchess" in near and "the youth" in near
    assert "Alice" in texts(chromium, "#map text") and "the Duchess" in texts(chromium, "#map text")
    click(chromium, "#neighbours a.phrase")
    wait(chromium, lambda b: one(b, "h1").text == near[0])
    one(chromium, "#map [data-filter]").send_keys("alice")
    assert "Alice" in texts(chromium, "#map svg a:not(.out) text")
    chromium.get(server + "/?q=mock")
    assert "Turtle" in texts(chromium, "#contexts .phrase")
    screen(chromium, 1280)


def test_a_word_of_a_sentence_is_chosen(chromium, server):
    chromium.get(server + "/sentence")
    field = one(chromium, "#s")
    field.send_keys("“Well!” said the king, to Alice.")
    click(chromium, ".wide button")
    wait(chromium, lambda b: texts(b, ".words a") == ["Well", "said", "the", "king", "to", "Alice"])
    chromium.find_elements("css selector", ".words a")[3].click()
    answer = one(chromium, "#substitutes tbody tr, #substitutes .fault")
    assert one(chromium, ".chosen").text == "king" and answer.text
    assert one(chromium, ".words").text == "“Well!” said the king, to Alice."
    assert "[king]," in one(chromium, "#substitutes .tools a").get_attribute("href").replace(
        "%5B", "["
    ).replace("%5D", "]").replace("%2C", ",")


def test_downloads_are_the_tables(chromium, server):
    chromium.get(server + "/?q=alice")
    shown = texts(chromium, "#neighbours tbody th")
    link = one(chromium, "#neighbours .tools a").get_attribute("href")
    rows = [line.split("\t") for line in httpx.get(link).text.splitlines()]
    assert rows[0][:5] == ["rank", "phrase", "similarity", "count", "score"]
    assert [row[1].replace(" ", "") for row in rows[1:]] == bare(shown)
    sheets = [link.get_attribute("href") for link in
              chromium.find_elements("css selector", "#concordance .tools a")]  # fmt: skip
    whole = [httpx.get(link) for link in sheets]
    n = int(texts(chromium, ".facts dd")[0])
    assert [len(whole[0].text.splitlines()), len(whole[1].text.splitlines())] == [n + 1, n + 1]
    assert len(whole[2].json()) == n


def test_light_and_dark_can_be_chosen_and_stay(chromium, server):
    def ground():
        return chromium.execute_script("return getComputedStyle(document.body).backgroundColor")

    screen(chromium, 1280, "light")
    chromium.get(server + "/")
    light = ground()
    click(chromium, ".theme")
    assert ground() != light
    chromium.get(server + "/api")
    assert ground() != light
    click(chromium, ".theme")
    assert ground() == light
    chromium.execute_script("localStorage.clear()")


def test_without_scripts_the_tables_stand(server):
    browser = browser_of(scripts=False)
    try:
        browser.get(server + "/?" + urlencode({"q": "the king"}))
        for name in ("neighbours", "contexts", "concordance"):
            assert texts(browser, f"#{name} tbody tr"), name
        assert texts(browser, "#map text")
        assert not one(browser, ".theme").is_displayed()
        click(browser, "#paraphrases .waiting a")
        assert one(browser, "#paraphrases tbody tr, #paraphrases .fault").text
    finally:
        browser.quit()


@pytest.mark.parametrize("width", [400, 1400])
@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_views_are_accessible_and_fit(chromium, server, width, scheme):
    screen(chromium, width, scheme)
    for view in VIEWS:
        chromium.get(server + view)
        wait(chromium, lambda b: not b.find_elements("css selector", "[aria-busy=true]"))
        assert chromium.execute_script("return document.documentElement.scrollWidth") <= width, view
        if view.startswith("/words"):  # no column is cropped
            tables = chromium.find_elements("css selector", ".scroll")
            assert tables and all(
                chromium.execute_script("return arguments[0].scrollWidth", one)
                <= one.size["width"] for one in tables
            )  # fmt: skip
        found = axe_complaints(chromium)
        assert found == [], (view, found)
    screen(chromium, 1280)


@pytest.fixture(scope="module")
def hostile_server(tmp_path_factory):
    folder = tmp_path_factory.mktemp("hostile")
    lines = [line for line in HOSTILE for _ in range(6)] + [
        f"words {n} stand here" for n in range(9)
    ]
    name = "<img src=x onerror=alert(9)>.txt"
    (folder / name.replace("/", "")).write_text("".join(f"{x}\n" for x in lines), encoding="utf-8")
    index = CorpusIndex.build(folder, folder / "index")
    from distsim import PRESETS, Selection, sign

    sign(index, recipe=PRESETS["thesis"], selection=Selection(min_count=2))
    with served(index.path, "--no-log") as (address, _):
        yield address


def test_hostile_text_stays_text(chromium, hostile_server):
    words = [word for line in HOSTILE for word in line.split() if len(word) < 300]
    complaints(chromium)  # of views before
    for width in (1280, 390):
        screen(chromium, width)
        for q in ["here", "stand", "stands here", *words[:3], words[-4], '"']:
            chromium.get(hostile_server + "/?" + urlencode({"q": q, "paraphrases": 1}))
            assert one(chromium, "main h1")
            assert not chromium.find_elements("css selector", "main img, main script")
            wide = chromium.execute_script("return document.documentElement.scrollWidth")
            assert wide <= width, q
            assert complaints(chromium) == []
    screen(chromium, 1280)
    chromium.get(hostile_server + "/?q=here")
    field = one(chromium, "#q")
    field.clear()
    field.send_keys("<scr")
    wait(chromium, lambda b: texts(b, "#q-options li span")[:1] == ["<script>alert(1)</script>"])
    long = chromium.find_elements("css selector", "#contexts th")
    assert all(len(cell.text) <= 310 for cell in long)


def test_fifty_at_once_while_the_index_grows(tmp_path):
    (tmp_path / "a.txt").write_text("one word here\n" * 50, encoding="utf-8")
    (tmp_path / "b.txt").write_text("some more here\n" * 70, encoding="utf-8")
    index = CorpusIndex.build(tmp_path / "a.txt", tmp_path / "index")
    with served(index.path) as (address, process):
        with httpx.Client(timeout=WAIT, limits=httpx.Limits(max_connections=50)) as client:

            def asked(number):
                path = ("/api/v1/count?phrase=here", "/?q=here", "/api/v1/contexts?phrase=here")
                answer = client.get(address + path[number % 3])
                found = re.search(r'"count":(\d+)', answer.text)
                return answer.status_code, int(found[1]) if number % 3 == 0 else None

            with ThreadPoolExecutor(50) as visitors:
                answers = list(visitors.map(asked, range(100)))
                index.add(tmp_path / "b.txt")
                while True:
                    more = list(visitors.map(asked, range(60)))
                    answers += more
                    if more[-3][1] == 120:
                        break
            assert {status for status, _ in answers} == {200}
            assert {count for _, count in answers if count is not None} == {50, 120}
        process.send_signal(signal.SIGTERM)
        _, told = process.communicate(timeout=WAIT)
        assert process.returncode == 0
    lines = told.splitlines()
    assert lines[-1] == "distsim: ended" and "Traceback" not in told
    form = r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ 127\.0\.0\.1 GET /\S* 200 \d+ \d+\.\d"
    assert sum(bool(re.fullmatch(form, line)) for line in lines) == len(answers)
    assert any("opened anew" in line for line in lines)


def test_the_client_of_the_guide_runs(server):
    guide = (PROJECT / "docs" / "guides" / "serve.md").read_text(encoding="utf-8")
    (client,) = re.findall(r"^```py\n(.*?)^```", guide, re.M | re.S)
    assert len([line for line in client.splitlines() if line.strip()]) <= 10
    client = client.replace("http://127.0.0.1:8765", server).replace("river", "alice")
    result = subprocess.run([sys.executable, "-c", client], capture_output=True, text=True)
    assert result.returncode == 0, result.stderr
    assert len(result.stdout.splitlines()) == 5
    for command in re.findall(r"^curl '(.*)'$", guide, re.M):
        answer = httpx.get(command.replace("http://127.0.0.1:8765", server), timeout=WAIT)
        assert answer.status_code == 200


def test_a_taken_port_is_told(server, alice_index, run):
    port = server.rpartition(":")[2]
    _, err = run("serve", alice_index.path, "--port", port, status=1)
    assert f"--port {port}" in err and "choose another port" in err

"""Takes the pictures of the guide "serve" anew: chromium, its driver and selenium are wanted.

distsim index build distsim/data/novels --format text -o novels.index
distsim sign novels.index
distsim pivot distsim/data/grammars/bengali-english.samt.gz --columns joint -o rules.gz
distsim score rules.gz --ngram novels.index -o scored.gz
distsim pack scored.gz -o packs -w sim_ngram=1
distsim serve novels.index --grammar packs            # leave it running
python docs/screenshots.py http://127.0.0.1:8765/     # writes docs/guides/serve/*.png
"""

import argparse
import base64
import io
import shutil
from pathlib import Path

from PIL import Image
from selenium import webdriver
from selenium.webdriver.chrome.service import Service
from selenium.webdriver.support.ui import WebDriverWait

FOLDER = Path(__file__).parent / "guides" / "serve"
SECONDS = 120  # paraphrases may be late
DESK, TELEPHONE = 1400, 400
COLOURS = 128  # a third of the bytes, and no difference to the eye
VIEWS = {
    "start": "",
    "phrase": "?q=quickly",
    "compare": "compare?a=evening&b=morning",
    "sentence": "sentence?s=it+was+a+[cold]+night+in+winter",
}
PICTURES = (
    *((view, DESK, scheme) for view in ("start", "phrase") for scheme in ("light", "dark")),
    ("compare", DESK, "light"),
    ("sentence", DESK, "dark"),
    *((view, TELEPHONE, scheme) for view in ("start", "phrase") for scheme in ("light", "dark")),
)


def started() -> webdriver.Chrome:
    """Return chromium without a window."""
    options = webdriver.ChromeOptions()
    options.binary_location = shutil.which("chromium") or ""
    for argument in ("--headless=new", "--no-sandbox", "--disable-gpu", "--hide-scrollbars"):
        options.add_argument(argument)
    browser = webdriver.Chrome(options=options, service=Service(shutil.which("chromedriver") or ""))
    browser.set_page_load_timeout(SECONDS)
    return browser


def take(browser: webdriver.Chrome, address: str, width: int, scheme: str, picture: Path) -> None:
    """Take one picture of a whole page, when all of it has come."""
    browser.execute_cdp_cmd(
        "Emulation.setEmulatedMedia",
        {"features": [{"name": "prefers-color-scheme", "value": scheme}]},
    )
    size = {"width": width, "height": 900, "deviceScaleFactor": 1, "mobile": width < 500}
    browser.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", size)
    browser.get(address)
    WebDriverWait(browser, SECONDS).until(
        lambda page: not page.find_elements("css selector", "[aria-busy=true]")
    )
    shot = browser.execute_cdp_cmd("Page.captureScreenshot", {"captureBeyondViewport": True})
    whole = Image.open(io.BytesIO(base64.b64decode(shot["data"]))).convert("RGB")
    whole.quantize(COLOURS).save(picture, optimize=True)


def main() -> None:
    """Take every picture of a server that runs."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("address", help="of the running server, with the slash at its end")
    asked = parser.parse_args()
    browser = started()
    try:
        for view, width, scheme in PICTURES:
            device = "-phone" if width == TELEPHONE else ""
            picture = FOLDER / f"{view}{device}-{scheme}.png"
            take(browser, asked.address + VIEWS[view], width, scheme, picture)
            print(picture)
    finally:
        browser.quit()


if __name__ == "__main__":
    main()

"""The report in a real browser: nothing is missing, nothing overflows, and the console is clean, at three widths."""

import shutil

import numpy as np
import pytest

import harmonium as hm

webdriver = pytest.importorskip("selenium.webdriver", reason="no selenium: pip install 'harmonium[browser]'")

CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
DRIVER = shutil.which("chromedriver")
pytestmark = [
    pytest.mark.skipif(not (CHROMIUM and DRIVER), reason="no Chromium with its driver (chromium, chromium-driver)"),
    pytest.mark.filterwarnings("ignore::ResourceWarning"),
]
FLAGS = (
    "--headless=new", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-dev-shm-usage",
    "--disable-background-networking", "--disable-component-update", "--disable-sync", "--host-resolver-rules=MAP * ~NOTFOUND , EXCLUDE localhost",
)  # fmt: skip
WIDTHS = (360, 768, 1280)

CLIPPED = """
const found = [], page = document.documentElement;
if (page.scrollWidth > page.clientWidth) found.push(`the page is ${page.scrollWidth} wide in ${page.clientWidth}`);
const scrolls = e => e && (['auto', 'scroll'].includes(getComputedStyle(e).overflowX) || scrolls(e.parentElement));
for (const e of document.querySelectorAll('main *')) {
  const box = e.getBoundingClientRect();
  if (e.closest('svg') && e.tagName !== 'svg') continue;
  if ((box.right > page.clientWidth + 1 || box.left < -1) && !scrolls(e.parentElement))
    found.push(`${e.tagName} from ${box.left} to ${box.right}`);
  if (getComputedStyle(e).overflow === 'hidden' && e.tagName !== 'svg' && e.scrollWidth > e.clientWidth + 1)
    found.push(`${e.tagName} clips`);
}
for (const text of document.querySelectorAll('svg text')) {
  const box = text.getBoundingClientRect(), whole = text.closest('svg').getBoundingClientRect();
  if (box.left < whole.left - 2 || box.right > whole.right + 2 || box.top < whole.top - 2 || box.bottom > whole.bottom + 2)
    found.push(`"${text.textContent}" leaves its figure`);
  if (box.height < 8) found.push(`"${text.textContent}" is ${box.height} high`);
}
return found;
"""
MISSING = """
const found = [];
for (const image of document.querySelectorAll('svg image'))
  if (!(image.href.baseVal.startsWith('data:image/png') && image.getBoundingClientRect().width > 50)) found.push('an image');
for (const use of document.querySelectorAll('svg use'))
  if (!document.getElementById(use.href.baseVal.slice(1))) found.push(use.href.baseVal);
for (const svg of document.querySelectorAll('svg')) if (svg.getBoundingClientRect().height < 60) found.push('a figure');
return found.concat(performance.getEntriesByType('resource').map(e => e.name).filter(n => !n.startsWith('data:')));
"""
CONTRAST = """
const shade = colour => colour.match(/[\\d.]+/g).slice(0, 3).map(Number)
  .map(c => c / 255).map(c => c <= 0.03928 ? c / 12.92 : ((c + 0.055) / 1.055) ** 2.4)
  .reduce((sum, c, i) => sum + c * [0.2126, 0.7152, 0.0722][i], 0);
const page = shade(getComputedStyle(document.body).backgroundColor);
const faint = [];
for (const e of document.querySelectorAll('h1, h2, p, dt, dd, td, th, li, figcaption, pre, svg text')) {
  const own = shade(getComputedStyle(e)[e.tagName === 'text' ? 'fill' : 'color']);
  const contrast = (Math.max(own, page) + 0.05) / (Math.min(own, page) + 0.05);
  if (contrast < 4.5) faint.push(`${e.tagName} ${e.textContent.slice(0, 20)} ${contrast}`);
}
return faint;
"""


@pytest.fixture(scope="module")
def browser(tmp_path_factory):
    options = webdriver.ChromeOptions()
    options.binary_location = CHROMIUM
    for flag in (*FLAGS, f"--user-data-dir={tmp_path_factory.mktemp('profile')}"):
        options.add_argument(flag)
    options.set_capability("goog:loggingPrefs", {"browser": "ALL"})
    driver = webdriver.Chrome(options=options, service=webdriver.ChromeService(DRIVER))
    yield driver
    driver.quit()


@pytest.fixture(scope="module", params=["images", "table"])
def report(request, tmp_path_factory):
    path = tmp_path_factory.mktemp("report") / f"{request.param}.html"
    if request.param == "images":
        X = np.random.default_rng(0).integers(0, 2, (400, 64)).astype(float)
        hm.RBM(8, n_updates=40, random_state=0, validation_fraction=0.2).fit(X[:300]).report(path, X[:300], X[300:400])
    else:
        X = np.random.default_rng(0).integers(0, 2, (200, 20)).astype(float)
        rbm = hm.RBM(8, n_updates=40, random_state=0).fit(X)
        rbm.feature_names_in_ = np.array([f"a_name_that_is_rather_long_for_a_column_{i}" for i in range(20)], object)
        rbm.report(path, X, title="A table")
    return path


@pytest.mark.parametrize("width", WIDTHS)
@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_the_page(browser, report, width, scheme):
    metrics = {"width": width, "height": 900, "deviceScaleFactor": 1, "mobile": False}
    browser.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", metrics)
    features = [{"name": "prefers-color-scheme", "value": scheme}]
    browser.execute_cdp_cmd("Emulation.setEmulatedMedia", {"features": features})
    browser.get_log("browser")
    browser.get(report.as_uri())
    assert browser.execute_script("return window.innerWidth") == width
    assert browser.execute_script("return document.querySelectorAll('svg').length") >= 7
    assert browser.execute_script(CLIPPED) == []
    assert browser.execute_script(MISSING) == []
    assert browser.execute_script(CONTRAST) == []
    dark = browser.execute_script("return getComputedStyle(document.body).backgroundColor") == "rgb(20, 24, 31)"
    assert dark == (scheme == "dark")
    assert browser.get_log("browser") == []

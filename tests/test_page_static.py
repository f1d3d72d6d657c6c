"""The page's files: served forever under a version, nothing inline, no markup made of text, colours one can read."""

import json
import re
import shutil
import subprocess
from pathlib import Path

import pytest
from markdown_it import MarkdownIt

from rules import rules
from tests.api_client import Api, problem_of
from tests.each import each
from tests.real import require
from truerail.web.page.routes import LISTS, Assets, load

FOLDER = Path("truerail/web/page")
SCRIPTS = sorted((FOLDER / "static").glob("*.js"))
TEMPLATES = sorted((FOLDER / "templates").glob("*.j2"))
PAGES = (
    "/",
    "/punch",
    "/changes",
    "/storm",
    "/ports",
    "/topology",
    "/racks",
    "/timeline",
    "/ask",
    "/ask/history",
    "/find",
    "/maintenance",
    "/cables",
    "/login",
    "/hosts/a",
    "/switches/a",
)
MARKUP = ("innerHTML", "outerHTML", "insertAdjacentHTML", "document.write", "DOMParser", "createContextualFragment")
CLOCKS = ("toLocale", "toISOString", "getTimezoneOffset", "DateTimeFormat", "getHours", "getUTC")
EXPORT = re.compile(r"^export (?:async )?(?:function|const|let|class) (\w+)", re.MULTILINE)
IMPORT = re.compile(r"""^import \{([^}]*)\} from "\./([\w.-]+)";""", re.MULTILINE)
EVALUATES = ("eval(", "new Function", 'setAttribute("on', "javascript:")


@each("script", SCRIPTS, ids=lambda path: path.name)
def test_no_script_makes_markup_of_text_or_code_of_text(script: Path) -> None:
    text = script.read_text()
    assert [word for word in (*MARKUP, *EVALUATES) if word in text] == []
    assert len(text.splitlines()) <= 215


@each("script", SCRIPTS, ids=lambda path: path.name)
def test_one_module_formats_times(script: Path) -> None:
    if script.name != "times.js":
        assert [word for word in CLOCKS if word in script.read_text()] == []


def test_a_script_imports_what_the_other_exports() -> None:
    exports = {script.name: set(EXPORT.findall(script.read_text())) for script in SCRIPTS}
    for script in SCRIPTS:
        for names, origin in IMPORT.findall(script.read_text()):
            wanted = {name.split(" as ")[0].strip() for name in names.split(",") if name.strip()}
            assert wanted <= exports[origin], f"{script.name} imports from {origin}"


def test_every_script_is_a_module_that_node_can_read() -> None:
    require("node")
    node = shutil.which("node")
    assert node
    reads = (
        "for (const f of process.argv.slice(1)) new vm.SourceTextModule(fs.readFileSync(f, 'utf8'), {identifier: f})"
    )
    done = subprocess.run(
        [node, "--experimental-vm-modules", "-e", f"const vm = require('vm'), fs = require('fs'); {reads}", *SCRIPTS],
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr


PROSE = """
const [script, pages] = process.argv.slice(1);
const marks = { "&": "&amp;", "<": "&lt;", ">": "&gt;", '"': "&quot;" };
const escaped = (text) => text.replace(/[&<>"]/g, (mark) => marks[mark]);
class Element { constructor(html) { this.html = html; } }
globalThis.el = (tag, _, ...children) =>
  new Element(`<${tag}>${children.flat(9).map((one) => one.html ?? escaped(one)).join("")}</${tag}>`);
const source = fs.readFileSync(script, "utf8").replace(/^import .*/m, "");
import(`data:text/javascript,${encodeURIComponent(source)}`).then(({ prose }) => process.stdout.write(
  JSON.stringify(JSON.parse(pages).map((page) => prose(page).flat(9).map((one) => one.html).join("")))));
"""
PAGES_OF_RULES = [rule.explanation.strip() for rule in rules().values()]
HOSTILE = "<script>alert(1)</script>\n\n- <b>x</b>\n- `<i>`\n  and & more\n\n**<u>**"


def test_the_page_reads_markdown_as_a_library_does() -> None:
    require("node")
    texts = [*PAGES_OF_RULES, HOSTILE]
    command = ["node", "-e", PROSE, str(FOLDER / "static/markdown.js"), json.dumps(texts)]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    library = MarkdownIt("commonmark", {"html": False})
    assert json.loads(done.stdout) == [_as_elements(library.render(text)) for text in texts]


def _as_elements(html: str) -> str:
    """What the library writes, with the tags that the page has for it and without its blanks between blocks."""
    tags = {"strong>": "b>", "pre><code>": "pre.raw>", "</code></pre>": "</pre.raw>"}
    html = re.sub("h[1-6]>", "h3>", html)
    for theirs, ours in tags.items():
        html = html.replace(theirs, ours)
    return re.sub(r"\n*(</?(?:p|ul|li|h3|pre\.raw)>)\n*", r"\1", html).replace("\n", " ")


def test_every_import_exists_and_every_script_is_used() -> None:
    assets = load()
    used = {"theme.js", "worker.js"}
    for entry in (
        *(f"{path.name.removesuffix('.html.j2')}.js" for path in TEMPLATES),
        *(f"{one[2]}.js" for one in LISTS),
    ):
        if entry in assets.files:
            used |= {*assets.imports(entry), *assets.later(entry)}
    assert {script.name for script in SCRIPTS} == used


@each("template", TEMPLATES, ids=lambda path: path.name)
def test_no_template_has_inline_script_or_style(template: Path) -> None:
    text = template.read_text()
    assert not re.search(r"<script(?![^>]*\bsrc=)|<style|\bstyle=|\son\w+=|\|\s*safe", text)


@each("path", PAGES)
def test_every_page_names_only_files_that_are_there(path: str) -> None:
    with Api() as api:
        page = api.ask("GET", f"/{path}")
        assert page.status_code == 200
        assert page.headers["content-type"].startswith("text/html")
        named = set(re.findall(r'(?:src|href)="(/static/[^"]+)"', page.text))
        assert len(named) > 2
        for name in named:
            answer = api.ask("GET", f"/{name}")
            assert answer.status_code == 200, name
            assert "immutable" in answer.headers["cache-control"]


def test_another_version_of_a_file_is_not_there() -> None:
    with Api() as api:
        assert api.ask("GET", "//static/000000000000/map.js").status_code == 404
        assert api.ask("GET", f"//static/{load().version}/nothing.js").status_code == 404
        assert api.ask("GET", f"//static/{load().version}/..%2Froutes.py").status_code == 404


def test_the_version_changes_with_any_byte() -> None:
    files = dict(load().files)
    files["map.js"] += b" "
    assert Assets(files).version != load().version


@pytest.mark.parametrize(("asked", "kept"), [("/punch", "/punch"), ("//evil.example", "/"), ("https://evil", "/")])
def test_the_log_in_leads_back_into_this_site_only(asked: str, kept: str) -> None:
    with Api() as api:
        text = api.ask("GET", "//login", params={"next": asked}).text
        assert f'name="next" value="{kept}"' in text


def test_a_name_in_the_address_is_escaped() -> None:
    with Api() as api:
        text = api.ask("GET", "//hosts/%3Cscript%3Ealert(1)%3C%2Fscript%3E%22x").text
        assert "<script>alert" not in text
        assert "&lt;script&gt;alert(1)&lt;/script&gt;&#34;x" in text


def test_a_name_without_end_is_refused() -> None:
    with Api() as api:
        assert api.ask("GET", f"//hosts/{'x' * 400}").status_code == 404


def test_only_a_browser_outside_the_api_gets_a_page_for_what_is_not_there() -> None:
    html = {"Accept": "text/html,application/xhtml+xml,*/*;q=0.8"}
    with Api() as api:
        page = api.ask("GET", "//nowhere", headers=html)
        assert page.status_code == 404
        assert page.headers["content-type"].startswith("text/html")
        assert page.headers["cache-control"] == "no-store"
        problem_of(api.ask("GET", "//nowhere"), 404)
        problem_of(api.ask("GET", "//nowhere", headers={"Accept": "application/json"}), 404)
        problem_of(api.ask("GET", "nowhere", headers=html), 404)
        problem_of(api.ask("POST", "//nowhere", headers=html), 404)


def _themes() -> dict[str, dict[str, str]]:
    css = (FOLDER / "static/base.css").read_text()
    light, dark, preferred = (
        dict(re.findall(r"--([\w-]+):\s*(#[0-9a-f]{3,6});", block))
        for block in re.findall(r":root[^{]*\{([^}]*--ink[^}]*)\}", css)
    )
    assert dark == preferred
    return {"light": light, "dark": {**light, **dark}}


def _luminance(colour: str) -> float:
    digits = colour[1:] if len(colour) == 7 else "".join(c * 2 for c in colour[1:])
    parts = [int(digits[i : i + 2], 16) / 255 for i in (0, 2, 4)]
    red, green, blue = (p / 12.92 if p <= 0.03928 else ((p + 0.055) / 1.055) ** 2.4 for p in parts)
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue


@each("theme", ["light", "dark"])
@each(
    "text, behind",
    [(text, behind) for text in ("ink", "soft", "link") for behind in ("paper", "page", "tint")]
    + [(state, behind) for state in ("right", "wrong", "missing", "unknown") for behind in ("paper", f"{state}-bg")]
    + [("paper", "cell-wrong"), ("soft", "cell-right"), ("paper", "link")],
)
def test_words_stand_out_from_what_is_behind_them(theme: str, text: str, behind: str) -> None:
    colours = _themes()[theme]
    light, dark = sorted((_luminance(colours[text]), _luminance(colours[behind])), reverse=True)
    assert (light + 0.05) / (dark + 0.05) >= 4.5

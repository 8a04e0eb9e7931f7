"""The first page of the site, its gallery and llms.txt: every number is computed or read."""

import io
import re
import warnings
from contextlib import redirect_stdout
from html import escape, unescape
from pathlib import Path

import polars as pl

import polars_scorio as ps
from examples.site.gallery import GALLERY
from examples.validation.measured_tables import cell_rows
from polars_scorio.accessors.frame import Scorio
from polars_scorio.command_line.main import main
from polars_scorio.display.media.marks import palette
from polars_scorio.display.numbers import unbroken_text

HERE = Path(__file__).parent
EXAMPLES = HERE.parent
CALLS = (
    ("Is it better?", "log.scorio.compare()", "paired, for all pairs at once"),
    (
        "Which may be the best?",
        "log.scorio.rank()",
        "ranges of ranks, tiers, the chance to be best",
    ),
    (
        "Can you rely on it?",
        "log.scorio.report(ps.pass_at_k(8), ps.pass_hat_k(8))",
        "at least once, and every time",
    ),
    (
        "May it ship?",
        'log.scorio.gate("agent-v1", margin=0.02)',
        "pass, fail or undecided, and the cases that broke",
    ),
    ("Show it", 'log.scorio.write_html("report.html")', "one file, no network, no script needed"),
)
COPY = """document.querySelectorAll("[data-copy]").forEach(b=>b.onclick=()=>
navigator.clipboard.writeText(b.dataset.copy).then(()=>{b.textContent="copied"}))"""


def copy_button(text: str) -> str:
    """A button that copies a text."""
    return f'<button type="button" data-copy="{escape(text)}">copy</button>'


def forest(log: pl.DataFrame, folder: Path) -> str:
    """The finding of a log, and a row with an interval for each model."""
    card = card_title(log.scorio(by="domain"), folder / "five.svg")
    report = log.drop("domain").scorio.report(ps.avg()).sort("estimate", descending=True)
    contenders = log.drop("domain").scorio.rank().filter("could_be_best")["model"].to_list()
    low, high = report["lo"].min() - 0.01, report["hi"].max() + 0.01
    rows = []
    for row in report.to_dicts():
        lo, mid, hi = (
            f"{100 * (row[name] - low) / (high - low):.2f}%" for name in ("lo", "estimate", "hi")
        )
        label = f"{100 * row['estimate']:.1f}"
        ends = f"[{100 * row['lo']:.1f}, {100 * row['hi']:.1f}]"
        first = " first" if row["model"] in contenders else ""
        first += " second" if first and rows else ""
        rows.append(
            f'<div class="row{first}"><span>{row["model"]}</span>'
            f'<svg role="img" aria-label="{row["model"]}: {label} % {ends}">'
            f'<line class="ci" x1="{lo}" x2="{hi}" y1="10" y2="10"/>'
            f'<circle class="dot" cx="{mid}" cy="10" r="6"/></svg>'
            f'<span class="n">{label}</span><span class="iv">{ends}</span></div>'
        )
    about = "avg@8 (%) with 95 % intervals: 5 models, 120 questions, 8 trials each"
    return f'<div class="sheet"><h2>{whole_names(card)}</h2><p>{about}</p>{"".join(rows)}</div>'


def whole_names(title: str) -> str:
    """A title whose names and numbers do not break."""
    return re.sub(r"\w+(-\w+)+", r'<bdi class="nb">\g<0></bdi>', escape(unbroken_text(title)))


def card_title(log: Scorio[pl.DataFrame], path: Path, **options: object) -> str:
    """Write the card of a log, and return the sentence on it."""
    card = log.write_card(path, **options).read_text("utf-8")
    (title,) = re.findall(r'aria-label="([^"]*)"', card)
    return unescape(title)


def swe_bench() -> str:
    """How many neighbours differ on a public board, as the finding has it."""
    page = (EXAMPLES / "findings" / "swe_bench.md").read_text(encoding="utf-8")
    (decided, pairs) = re.findall(r"^(\d+) of (\d+) neighbours differ", page, re.MULTILINE)[0]
    (best, models) = re.findall(
        r"^models that may be the best: (\d+) of (\d+)", page, re.MULTILINE
    )[0]
    bars = "".join(f"<i{' class=y' * (place < int(decided))}></i>" for place in range(int(pairs)))
    return (
        f'<div><div class="pic"><div class="steps">{bars}</div></div>'
        f"<h3>On SWE-bench only {decided} of {pairs} neighbouring pairs are decided.</h3>"
        f"<p>{models} models, 500 tasks, one run each. {best} may be the best. "
        '<a href="findings/swe_bench.html">The finding</a></p></div>'
    )


def tau_bench() -> str:
    """Pass@k and Pass^k of a public log."""
    log = pl.read_parquet(EXAMPLES.parent / "tests" / "data" / "tau_bench_gpt4o_airline.parquet")
    counted = [1, 2, 3, 4]
    report = log.scorio.report(ps.pass_at_k(counted), ps.pass_hat_k(counted))
    paths, ends = [], []
    for (_,), rows in report.group_by("metric", maintain_order=True):
        at = [f"{1000 * (k - 1) / 3:.0f}" for k in rows["k"]]
        y = {name: 110 - 110 * rows[name].to_numpy() for name in ("estimate", "lo", "hi")}
        line = "L".join(f"{a},{v:.1f}" for a, v in zip(at, y["estimate"], strict=True))
        up = "L".join(f"{a},{v:.1f}" for a, v in zip(at, y["hi"], strict=True))
        down = "L".join(f"{a},{v:.1f}" for a, v in zip(at[::-1], y["lo"][::-1], strict=True))
        paths.append(f'<path class="ar" d="M{up}L{down}Z"/><path class="ln" d="M{line}"/>')
        ends.append(100 * rows["estimate"][-1])
    once, always = (f"{end:.1f} %" for end in ends)
    plot = (
        f'<svg viewBox="0 0 1000 112" preserveAspectRatio="none" role="img" '
        f'aria-label="Pass@k and Pass^k for k = 1 to 4">{"".join(paths)}</svg>'
    )
    return (
        f'<div><div class="pic">{plot}</div>'
        f"<h3>gpt-4o solves {once} of the tasks at least once in four tries, {always} every time."
        "</h3>"
        "<p>gpt-4o on tau-bench, airline: 50 tasks, four trials each. "
        '<a href="guide/metrics/success.html">Pass@k and Pass^k</a></p></div>'
    )


def coverage() -> str:
    """The coverage of all simulated settings."""
    cells = cell_rows(pl.read_parquet(EXAMPLES / "validation" / "coverage.parquet"))
    held = 100 * cells.filter(confidence=0.95, inference="calibrated")["coverage"].to_numpy()
    missed = round(100 - held.mean())
    dots = "".join(f"<i{' class=n' * (place < missed)}></i>" for place in range(100))
    return (
        f'<div><div class="pic"><div class="hundred">{dots}</div></div>'
        f"<h3>95 % intervals that cover the truth {held.mean():.1f} % of the time.</h3>"
        f"<p>Over {held.size:,} simulated settings; the worst one: {held.min():.1f} %. "
        '<a href="validation/README.html">Validation</a></p></div>'
    )


def in_the_dark(card: str) -> str:
    """A card in the colours of the dark page."""
    light, dark = palette(), palette("dark")
    tones = {tone: dark[name] for name, tone in light.items() if tone.startswith("#")}
    return re.sub(r"#[0-9a-f]{3,6}\b", lambda tone: tones.get(tone[0], tone[0]), card)


def gallery(folder: Path) -> str:
    """Write the pages of made-up logs, and return links with their cards."""
    links = []
    for name, made in GALLERY.items():
        shown = made()
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # the page itself shows what is doubtful
            log = shown.log.scorio(**shown.roles)
            log.write_html(folder / f"{name}.html", **shown.options)
            light = folder / f"{name}.svg"
            title = card_title(log, light, **shown.options)
        dark = in_the_dark(light.read_text(encoding="utf-8"))
        (folder / f"{name}-dark.svg").write_text(dark, encoding="utf-8")
        links.append(
            f'<a href="gallery/{name}.html"><picture><source srcset="gallery/{name}-dark.svg" '
            f'media="(prefers-color-scheme:dark)"><img src="gallery/{name}.svg" width="1200" '
            f'height="630" alt="" loading="lazy"></picture><b>{whole_names(title)}</b>'
            f"<span>{shown.about}</span></a>"
        )
    return "".join(links)


def terminal(log: pl.DataFrame, folder: Path) -> str:
    """What the command prints about a log."""
    path = folder / "five.parquet"
    log.write_parquet(path)
    with redirect_stdout(io.StringIO()) as printed:
        main([str(path), "--by", "domain"])
    path.unlink()
    text = printed.getvalue().replace(str(path), path.name).rstrip()
    return f'<pre class="term">$ polars-scorio five.parquet --by domain\n\n{escape(text)}</pre>'


def landing(folder: Path) -> str:
    """The text of the page."""
    (folder / "gallery").mkdir(exist_ok=True)
    five = GALLERY["five"]().log
    calls = "".join(
        f'<div class="call"><b>{title}</b><code>{escape(code)}</code> {copy_button(code)}'
        f"<p>{text}</p></div>"
        for title, code, text in CALLS
    )
    links = (
        ("guide/README.html", "Guide"),
        ("guide/reference/README.html", "Reference"),
        ("findings/README.html", "Findings"),
        ("validation/README.html", "Validation"),
    )
    navigation = "".join(f'<a href="{address}">{word}</a>' for address, word in links)
    style = (HERE / "landing.css").read_text(encoding="utf-8")
    mark = (HERE / "static" / "favicon.svg").read_text(encoding="utf-8")
    mark = mark.replace("<svg ", '<svg width="28" height="28" aria-hidden="true" ')
    return f"""<!DOCTYPE html><html lang="en"><head><meta charset="utf-8">
<meta name="viewport" content="width=device-width,initial-scale=1">
<title>polars-scorio: is it better, or was it luck?</title>
<meta name="description" content="Statistics for evaluations of language models in Polars">
<link rel="icon" href="_static/favicon.svg"><style>{style}</style></head><body><main>
<nav><b>{mark}polars-scorio</b>{navigation}</nav>
<div class="top"><div><h1>Is it better, or was it luck?</h1>
<p class="lede">A Polars namespace for logs of language-model evaluations: scores, Pass@k and Pass^k
with confidence intervals, verdicts for all models at once, release gates, and a page to send.</p>
<div class="get"><span class="copy"><code>python -m pip install .</code>
{copy_button("python -m pip install .")}</span>
<a class="btn" href="guide/README.html">First report in a minute</a></div></div>
{forest(five, folder / "gallery")}</div>
<h2 class="h">Three findings</h2>
<div class="three">{swe_bench()}{tau_bench()}{coverage()}</div>
<h2 class="h">One log, one page</h2><div class="gal">{gallery(folder / "gallery")}</div>
<h2 class="h">Five calls</h2><div class="calls">{calls}</div>
<h2 class="h">Or no Python at all</h2>{terminal(five, folder)}
<p class="k">It reads the logs of inspect_ai, lm-evaluation-harness, promptfoo, SWE-bench,
Terminal-Bench, tau-bench, HELM and <a href="guide/logs.html">20 other tools</a>, and any Parquet,
CSV or JSON table.</p>
<footer><div><h3>Install</h3>
<p>In a checkout, with Python 3.10 or newer and Polars 1.35 or newer.</p></div>
<div><h3>For language models</h3>
<p><a href="llms.txt">llms.txt</a> lists all pages as Markdown.</p></div>
<div><h3>Made-up models</h3><p>atlas, borea, comet ... do not exist; their logs are drawn with fixed
seeds. SWE-bench and tau-bench are published results.</p></div></footer>
</main><script>{COPY}</script></body></html>
"""


def llms_txt(folder: Path) -> str:
    """Titles and addresses of the Markdown of all pages, for language models."""
    lines = ["# polars-scorio", "", "> Statistics for evaluations of language models in Polars."]
    for part in ("guide", "validation", "findings"):
        lines += ["", f"## {part.capitalize()}", ""]
        for source in sorted((folder / "_sources" / part).rglob("*.md.txt")):
            text = source.read_text(encoding="utf-8")
            title = re.findall(r"^# (.+)$", text, re.MULTILINE)[0]
            address = source.relative_to(folder).as_posix()
            lines.append(f"- [{title}]({address})")
    return "\n".join(lines) + "\n"


def write_landing(folder: Path) -> None:
    """Write the first page, the gallery and llms.txt into a site that Sphinx built."""
    (folder / "index.html").write_text(landing(folder), encoding="utf-8")
    (folder / "llms.txt").write_text(llms_txt(folder), encoding="utf-8")

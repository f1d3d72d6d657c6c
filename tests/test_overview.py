"""What the overview puts first, and which cause explains which cell of its map."""

from base64 import b64decode
from collections import Counter
from dataclasses import replace

from rules import rules
from tests.each import each
from tests.view_fabrics import SHAPES, fabric, faulty
from truerail.analysis.published import Published
from truerail.model import CauseKind
from truerail.model.life import Mute, MuteKind
from truerail.rounds import publication_of
from truerail.testing.cases import scene
from truerail.views.fabric import first_sentence, overview_headline
from truerail.views.fabric_map import cells_of, fabric_map, map_causes
from truerail.views.lines import cause_lines
from truerail.views.view import view_of


@each("name", SHAPES)
def test_the_headline_names_the_first_cause_of_the_list(name: str) -> None:
    publication = fabric(name)
    worst = overview_headline(view_of(publication)).worst
    loud = [line for line in cause_lines(view_of(publication)) if line.severity != "info"]
    assert worst in (None, loud[0].key if loud else None)
    if loud and loud[0].impact:
        assert worst == loud[0].key


def test_a_storm_comes_before_the_cables() -> None:
    publication = publication_of(scene(rules()["PFC001"].fires[0]))
    words = overview_headline(view_of(publication))
    assert words.worst is not None
    cause = view_of(publication).cause(words.worst)
    assert cause is not None
    assert cause.kind is CauseKind.PFC_STORM
    assert cause.subjects[0] in words.headline
    assert "GPU" in words.headline


def test_what_is_muted_is_not_the_headline() -> None:
    publication = faulty()
    first = cause_lines(view_of(publication))[0]
    mutes = dict.fromkeys(first.explains, Mute(MuteKind.ACKNOWLEDGED, 1, "a", "b", None))
    muted = replace(publication, mutes=mutes)
    following = next(line for line in cause_lines(view_of(muted)) if not line.muted and line.severity != "info")
    assert overview_headline(view_of(muted)).worst == following.key != first.key
    every = dict.fromkeys(
        (f.id for f in publication.evaluation.findings), Mute(MuteKind.ACKNOWLEDGED, 1, "a", "b", None)
    )
    words = overview_headline(view_of(replace(publication, mutes=every)))
    assert (words.worst, words.headline) == (None, view_of(publication).headline.cables)


def without_causes(publication: Published) -> Published:
    evaluation = replace(publication.evaluation, causes=())
    return replace(publication, evaluated=replace(publication.evaluated, evaluation=evaluation))


def test_findings_without_a_cause_are_named_where_no_cause_is() -> None:
    publication = faulty()
    bare = without_causes(publication)
    words = overview_headline(view_of(bare))
    assert words.worst is None
    assert words.headline.startswith(first_sentence(bare.evaluation.findings[0].summary)[1:20], 1)


def test_a_headline_is_one_sentence() -> None:
    assert first_sentence("the cables are swapped. Its impact is unknown: no counters") == "the cables are swapped."
    assert first_sentence("A storm begins at gpu-1.example.net/p0: 99 % of the time") == (
        "A storm begins at gpu-1.example.net/p0: 99 % of the time"
    )


@each("name", SHAPES)
def test_each_cell_belongs_to_a_cause_that_explains_its_findings_or_affects_its_cable(name: str) -> None:
    publication = fabric(name)
    view, drawn, answer = view_of(publication), fabric_map(publication), map_causes(publication)
    codes = b64decode(answer.cells)
    assert len(codes) == len(cells_of(drawn))
    lines = cause_lines(view)
    assert [one.key for one in answer.causes] == [line.key for line in lines[:254]]
    counted = Counter(codes)
    assert [one.cells for one in answer.causes] == [counted[place] for place in range(1, len(answer.causes) + 1)]
    width = len(drawn.rails) * drawn.planes
    for cell, code in enumerate(codes):
        if not code:
            continue
        host, line = drawn.hosts[cell // width], lines[code - 1]
        findings = [view.finding(one) for one in line.explains]
        explained = {one.device for one in findings if one} | {one.subject for one in findings if one}
        affected = {view.plan.cables[cable].a.device for cable in view.sight.affected[line.key].tolist()}
        through = {
            cable.a.device for cable in view.plan.cables for one in findings if one and str(cable.b) == one.subject
        }
        assert host in explained | affected | through


def test_a_leaf_swap_does_not_own_the_cells_of_a_swapped_pair() -> None:
    publication = faulty()
    lines = cause_lines(view_of(publication))
    sizes = {one.kind: one.cells for one in map_causes(publication).causes}
    assert sizes["leaf-swap"] > 12 > max(size for kind, size in sizes.items() if kind == "cable-swap") > 0
    assert len(lines) > 2


def test_a_finding_without_a_cause_leaves_its_cell_to_none() -> None:
    answer = map_causes(without_causes(faulty()))
    assert answer.causes == ()
    assert not any(b64decode(answer.cells))

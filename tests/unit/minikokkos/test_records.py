"""Structured arrays in kernels, against numpy."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import pkdb_tui.minikokkos as pk

SPACES = [pk.OpenMP, pk.Serial, pk.Debug]
POINT = np.dtype([("x", "f8"), ("y", ">f4"), ("count", "u2")])
PARTICLE = np.dtype([("name", "U4"), ("at", POINT), ("v", ">f8", (3,)), ("m", "f4", (2, 2)), ("near", POINT, (2,))])

KERNELS = """
@pk.workunit
def fields(i: int, p):
    p[i]["x"] = 2 * p[i]["y"]
    p["count"][i] += i
    r = p[i]
    r["y"] -= 0.5
    xs = p["x"]
    xs[i] *= 3


@pk.workunit
def nested(i: int, q, out):
    q[i]["at"]["x"] = i
    here = q[i]["at"]
    here["count"] = 7
    for k in range(3):
        q[i]["v"][k] = k + i
    q["v"][i, 0] = -1
    m = q[i]["m"]
    m[1, 0] = q[i]["v"][2]
    q[i]["near"][1]["y"] = 0.5 + i
    q["near"][i, 0] = q[i]["at"]
    out[i] = length(q["v"], i) + len(q[i]["v"]) + m.shape[1] + q.size


@pk.function
def length(v: pk.View2D[pk.double], i: int) -> pk.double:
    return v[i, 1] + v[i, 2]


@pk.workunit
def copied(i: int, p, q):
    p[i] = q[4 - i]


@pk.workunit
def counted(i: int, p):
    pk.atomic_add(p["count"], [i % 2], 1)


@pk.workunit
def total(i: int, acc: pk.Acc[pk.double], p):
    if p[i]["count"] > 1:
        acc += p[i]["x"] if p[i]["x"] > 0 else 0


@pk.workunit
def attributes(i: int, p):
    p[i].x = p[i].y + 1
    p[i].count += 2


@pk.workunit
def deep(i: int, q):
    q[i].at.x = 3
    q[i].near[1]["x"] = q[i].v[2] + 1


@pk.workunit
def planes(i: int, p):
    row = p[i, ::2]
    for j in range(len(row)):
        row[j]["x"] = 10 * i + j
"""


@pytest.fixture
def k(load: Any) -> Any:
    """The module of kernels."""
    return load(KERNELS)


def _points(aligned: bool = False) -> Any:
    points = np.zeros(5, np.dtype(POINT.descr, align=aligned))
    points["x"], points["y"], points["count"] = np.arange(5) - 2, np.arange(5) / 2, np.arange(5)
    return points


@pytest.mark.parametrize("form", [lambda p: p, lambda p: p[::-1], lambda p: np.repeat(p, 2)[::2]])
@pytest.mark.parametrize("aligned", [False, True])
@pytest.mark.parametrize("space", SPACES)
def test_fields(k: Any, space: Any, aligned: bool, form: Any) -> None:
    points = form(_points(aligned))
    expected = points.copy()
    expected["x"] = 3 * 2 * points["y"]
    expected["y"] -= 0.5
    expected["count"] += np.arange(5, dtype="u2")
    pk.parallel_for(pk.RangePolicy(space, 0, 5), k.fields, p=points)
    np.testing.assert_array_equal(points, expected)


@pytest.mark.parametrize("space", SPACES)
def test_records_in_records_and_arrays_in_them(k: Any, space: Any) -> None:
    particles, out = np.zeros(4, PARTICLE), np.zeros(4)
    particles["name"] = "kept"
    pk.parallel_for(pk.RangePolicy(space, 0, 4), k.nested, q=particles, out=out)
    i = np.arange(4)
    expected = np.zeros(4, PARTICLE)
    expected["name"], expected["at"]["x"], expected["at"]["count"] = "kept", i, 7
    expected["v"] = i[:, None] + np.arange(3)
    expected["v"][:, 0] = -1
    expected["m"][:, 1, 0] = i + 2
    expected["near"]["y"][:, 1] = 0.5 + i
    expected["near"][:, 0] = expected["at"]
    np.testing.assert_array_equal(particles, expected)
    np.testing.assert_array_equal(out, 2 * i + 3 + 3 + 2 + 4)


@pytest.mark.parametrize("space", SPACES)
def test_whole_records(k: Any, space: Any) -> None:
    p, q = np.zeros(5, POINT), _points()
    pk.parallel_for(pk.RangePolicy(space, 0, 5), k.copied, p=p, q=q)
    np.testing.assert_array_equal(p, q[::-1])
    other = np.zeros(5, [("x", "f8")])
    if space is not pk.Debug:
        with pytest.raises(pk.CompileError, match=r"p\[i\] is no record of the same type: assign field by field"):
            pk.parallel_for(pk.RangePolicy(space, 0, 5), k.copied, p=other, q=q)


@pytest.mark.parametrize("space", SPACES)
def test_atomics_and_reductions(k: Any, space: Any) -> None:
    points = _points()
    pk.parallel_for(pk.RangePolicy(space, 0, 1000), k.counted, p=points)
    assert points["count"].tolist() == [500, 501, 2, 3, 4]
    assert pk.parallel_reduce(pk.RangePolicy(space, 0, 5), k.total, p=points) == 3.0


@pytest.mark.parametrize("space", SPACES)
def test_record_arrays_have_attributes(k: Any, space: Any) -> None:
    points = _points().view(np.recarray)
    pk.parallel_for(pk.RangePolicy(space, 0, 5), k.attributes, p=points)
    assert points.x.tolist() == (np.arange(5) / 2 + 1).tolist()
    assert points["count"].tolist() == [2, 3, 4, 5, 6]
    particles = np.zeros(2, PARTICLE).view(np.recarray)
    pk.parallel_for(pk.RangePolicy(space, 0, 2), k.deep, q=particles)
    assert particles["at"]["x"].tolist() == [3, 3]
    assert particles["near"]["x"].tolist() == [[0, 1], [0, 1]]


@pytest.mark.parametrize("space", SPACES)
def test_subviews(k: Any, space: Any) -> None:
    points = np.zeros((3, 5), POINT)
    pk.parallel_for(pk.RangePolicy(space, 0, 3), k.planes, p=points)
    np.testing.assert_array_equal(points["x"][:, ::2], 10 * np.arange(3)[:, None] + np.arange(3))
    assert not points["x"][:, 1::2].any()


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("p[i]['z'] = 1", "there is no field z: the fields are x, y, count"),
        ("p[i].x = 1", 'a field is named in brackets: p[i]["x"]'),
        ("p[i] = 1", "p[i] is not a number here: name one of its fields, x, y, count"),
        ("a = p[i] + 1", "p[i] is not a number here: name one of its fields, x, y, count"),
        ("pk.atomic_add(p, [i], 1)", 'p has records: name a field, such as p["x"]'),
        ("q[i]['name'] = 1", "the field name is <U4, which kernels can't use"),
        ("n = i['x']", "i has no fields"),
    ],
)
def test_what_records_do_not_have(load: Any, line: str, message: str) -> None:
    k = load(f"@pk.workunit\ndef work(i: int, p, q):\n    {line}\n")
    with pytest.raises(pk.CompileError) as caught:
        pk.parallel_for(1, k.work, p=np.zeros(2, POINT), q=np.zeros(2, PARTICLE))
    assert caught.value.message == message


def test_bounds(load: Any) -> None:
    k = load("@pk.workunit\ndef work(i: int, p, q):\n    p[i + 1]['x'] = q[i]['v'][3]\n")
    k.work.bounds = True
    with pytest.raises(IndexError, match=r"^(p index 5 in dimension 0, extent 5|q index 3 in dimension 0, extent 3)$"):
        pk.parallel_for(5, k.work, p=np.zeros(5, POINT), q=np.zeros(5, PARTICLE))


@pytest.mark.parametrize("space", SPACES)
def test_a_name_for_the_dtype_annotates(load: Any, space: Any) -> None:
    k = load(
        "POINT = np.dtype([('x', 'f8'), ('y', '>f4'), ('count', 'u2')])\n"
        "@pk.workunit\ndef work(i: int, p: pk.View1D[POINT]):\n    p[i]['x'] = both(p, i)\n"
        "@pk.function\ndef both(p: pk.View1D[POINT], i: int) -> pk.double:\n    return p[i]['y'] + p[i]['count']\n"
    )
    points = _points()
    pk.parallel_for(pk.RangePolicy(space, 0, 5), k.work, p=points[::-1])
    assert points["x"].tolist() == (1.5 * np.arange(5)).tolist()
    with pytest.raises(pk.ArgumentError, match=r"p is annotated as View1D of records .*'>f4'.*, an array of float64"):
        pk.parallel_for(pk.RangePolicy(space, 0, 5), k.work, p=np.zeros(5))
    with pytest.raises(pk.ArgumentError, match=r"'<f4'\).* is given: annotate it as View1D of a name for its dtype"):
        pk.parallel_for(pk.RangePolicy(space, 0, 5), k.work, p=np.zeros(5, [("x", "f8"), ("y", "f4"), ("count", "u2")]))

"""The section of RESULTS.md that the overhead benchmark writes, and what is around it."""

from benchmarks.overhead import BEGIN, END, rounded, section_of, with_section

OLD, NEW = f"{BEGIN}\nold\n{END}", f"{BEGIN}\nnew\n{END}"


def test_the_section_is_added_replaced_and_kept() -> None:
    once = with_section("# Results\n\ntable\n", OLD)
    assert once == f"# Results\n\ntable\n\n{OLD}\n"
    twice = with_section(once, NEW)
    assert twice == f"# Results\n\ntable\n\n{NEW}\n"
    assert with_section("# Results\n\nother table\n", section_of(twice)) == f"# Results\n\nother table\n\n{NEW}\n"


def test_without_a_section_the_table_stays_alone() -> None:
    assert section_of("# Results\n") == ""
    assert with_section("# Results\n", "") == "# Results\n"


def test_steps_are_counts_of_two_digits() -> None:
    assert [rounded(count) for count in (0.2, 3.6, 17.4, 123.9, 1250.1, 98_765)] == [1, 4, 17, 120, 1300, 99_000]

"""Prints a million lines, then stops by itself at statements to step over."""

import sys

# ruff: noqa: F841

LINES = 1_000_000


def flood():
    for first in range(0, LINES, 1000):
        sys.stdout.write("".join(f"line {number} of a long run\n" for number in range(first, first + 1000)))
    sys.stdout.flush()


def work():
    breakpoint()
    value_000 = 0
    value_001 = 1
    value_002 = 2
    value_003 = 3
    value_004 = 4
    value_005 = 5
    value_006 = 6
    value_007 = 7
    value_008 = 8
    value_009 = 9
    value_010 = 10
    value_011 = 11
    value_012 = 12
    value_013 = 13
    value_014 = 14
    value_015 = 15
    value_016 = 16
    value_017 = 17
    value_018 = 18
    value_019 = 19
    value_020 = 20
    value_021 = 21
    value_022 = 22
    value_023 = 23
    value_024 = 24
    value_025 = 25
    value_026 = 26
    value_027 = 27
    value_028 = 28
    value_029 = 29
    value_030 = 30
    value_031 = 31
    value_032 = 32
    value_033 = 33
    value_034 = 34
    value_035 = 35
    value_036 = 36
    value_037 = 37
    value_038 = 38
    value_039 = 39
    value_040 = 40
    value_041 = 41
    value_042 = 42
    value_043 = 43
    value_044 = 44
    value_045 = 45
    value_046 = 46
    value_047 = 47
    value_048 = 48
    value_049 = 49
    value_050 = 50
    value_051 = 51
    value_052 = 52
    value_053 = 53
    value_054 = 54
    value_055 = 55
    value_056 = 56
    value_057 = 57
    value_058 = 58
    value_059 = 59
    value_060 = 60
    value_061 = 61
    value_062 = 62
    value_063 = 63
    value_064 = 64
    value_065 = 65
    value_066 = 66
    value_067 = 67
    value_068 = 68
    value_069 = 69
    value_070 = 70
    value_071 = 71
    value_072 = 72
    value_073 = 73
    value_074 = 74
    value_075 = 75
    value_076 = 76
    value_077 = 77
    value_078 = 78
    value_079 = 79


flood()
work()

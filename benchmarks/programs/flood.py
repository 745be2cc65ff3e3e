"""Prints as fast as it can and writes how long that took to the file named by its argument."""

import sys
import time

LINES = 1_000_000
LINE = "x" * 60 + "\n"


def main():
    begin = time.perf_counter()
    for _ in range(LINES // 100):
        sys.stdout.write(LINE * 100)
    sys.stdout.flush()
    seconds = time.perf_counter() - begin
    with open(sys.argv[1], "a") as file:
        file.write(f"{seconds}\n")


main()

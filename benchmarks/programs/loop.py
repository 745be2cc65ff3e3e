"""A loop of 200,000 turns that writes how long it took to the file named by its argument."""

import sys
import time


def elsewhere():
    return 1


def own(turns):
    total = 0
    for turn in range(turns):
        total += turn & 3
    return total


def main():
    begin = time.perf_counter()
    own(200_000)
    seconds = time.perf_counter() - begin
    with open(sys.argv[1], "a") as file:
        file.write(f"{seconds}\n")


main()

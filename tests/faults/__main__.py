"""Run the campaigns: `python -m tests.faults [--only NAME] [--kills 50] [--tiny]`.

Each line is a case: a command or a reader, and what is done to it. A broken promise is printed
under its case, and the exit status is 1.
"""

import argparse
import sys
import time
from dataclasses import replace

from tests.faults import archives, flips, lines, places, pools, readers, spark, twins, writing
from tests.faults.commands import Materials
from tests.faults.frame import TINY, Budget, run_case, scratch_folder

CAMPAIGNS = (writing, places, flips, archives, lines, pools, readers, spark, twins)


def main() -> None:
    parser = argparse.ArgumentParser(prog="tests.faults", description=__doc__.split("\n")[0])
    parser.add_argument("--only", action="append", metavar="NAME", help="cases whose names hold it")
    parser.add_argument("--kills", type=int, help="of each command")
    parser.add_argument("--stride", type=int, help="flip every so many-th byte of an artifact")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--tiny", action="store_true", help="a few cases, a few times each")
    parser.add_argument("--list", action="store_true", help="print the names of the cases")
    given = parser.parse_args()
    chosen = [
        case
        for campaign in CAMPAIGNS
        for case in campaign.cases()
        if (case.in_tiny or given.only or not given.tiny)
        and (not given.only or any(name in case.name for name in given.only))
    ]
    if given.list:
        return print("\n".join(case.name for case in chosen))
    asked = {"kills": given.kills, "stride": given.stride}
    budget = replace(
        TINY if given.tiny else Budget(), **{name: n for name, n in asked.items() if n is not None}
    )
    begun, broken = time.monotonic(), 0
    with scratch_folder() as scratch:
        materials = Materials(scratch / "materials")
        for case in chosen:
            broken += len(run_case(case, scratch, materials.give, given.seed, budget).broken)
    print(f"{len(chosen)} cases, {broken} broken, {time.monotonic() - begun:.0f} s")
    sys.exit(bool(broken or not chosen))


if __name__ == "__main__":
    main()

"""``python -m benchmarks.workloads.child NAME``: measures one workload, and writes JSON after each step."""

from __future__ import annotations

import argparse
import json
import traceback

from benchmarks.workloads.measuring import Measured, measured
from benchmarks.workloads.suite import WORKLOADS


def main() -> None:
    """Runs the command line."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("name")
    parser.add_argument("--rounds", type=int, default=200)
    parser.add_argument("--quick", action="store_true")
    options = parser.parse_args()
    (workload,) = (workload for workload in WORKLOADS if workload.name == options.name)
    found = Measured(workload.name)
    try:
        for found in measured(workload, options.rounds, quick=options.quick):
            print(json.dumps(found.as_json()), flush=True)
    except Exception as error:
        traceback.print_exc()
        found.failure = f"{type(error).__name__}: {' '.join(str(error).split())}"[:200]
        print(json.dumps(found.as_json()), flush=True)


if __name__ == "__main__":
    main()

"""Where a process finds its place: our own variables, and those of SLURM, Open MPI and Kubernetes."""

from __future__ import annotations

import pytest

from graphc.compiler.base.errors import InvalidArgumentError
from graphc.training.distribute.processes import ProcessRank, find_place

OURS = {
    "GRAPHC_PROCESSES": "4", "GRAPHC_PROCESS_ID": "2", "GRAPHC_COORDINATOR": "10.0.0.1:5000", "GRAPHC_AUTHKEY": "k"
}  # fmt: skip
SLURM = {
    "SLURM_JOB_ID": "4099", "SLURM_STEP_NODELIST": "gpu[007,009-12]-ib,other", "SLURM_STEP_NUM_TASKS": "8",
    "SLURM_PROCID": "5", "SLURM_LOCALID": "1", "SLURM_STEP_TASKS_PER_NODE": "4(x2)", "GRAPHC_AUTHKEY": "k",
}  # fmt: skip
OPEN_MPI = {
    "OMPI_COMM_WORLD_RANK": "3", "OMPI_COMM_WORLD_SIZE": "4", "OMPI_COMM_WORLD_LOCAL_RANK": "1",
    "OMPI_COMM_WORLD_LOCAL_SIZE": "2", "OMPI_MCA_orte_hnp_uri": "1531576320.0;tcp://10.96.0.1,10.148.0.1:34911",
    "GRAPHC_AUTHKEY": "k",
}  # fmt: skip
KUBERNETES = {
    "KUBERNETES_SERVICE_HOST": "10.0.0.1", "JOB_COMPLETION_INDEX": "1", "GRAPHC_PROCESSES": "2",
    "GRAPHC_COORDINATOR": "train-0.pods:5000", "GRAPHC_AUTHKEY": "k",
}  # fmt: skip


@pytest.mark.parametrize(
    ("environ", "place"),
    [
        (OURS, ProcessRank(2, 4, "10.0.0.1", 5000, b"k")),
        (
            {**OURS, "GRAPHC_LOCAL_RANK": "1", "GRAPHC_LOCAL_PROCESSES": "2"},
            ProcessRank(2, 4, "10.0.0.1", 5000, b"k", 1, 2),
        ),
        (SLURM, ProcessRank(5, 8, "gpu007-ib", 61443, b"k", 1, 4)),
        ({**SLURM, "SLURM_STEP_NODELIST": "gpu7", "GRAPHC_COORDINATOR": "h:1"}, ProcessRank(5, 8, "h", 1, b"k", 1, 4)),
        (OPEN_MPI, ProcessRank(3, 4, "10.96.0.1", 61440 + 1531576320 // 4096 % 4096, b"k", 1, 2)),
        (KUBERNETES, ProcessRank(1, 2, "train-0.pods", 5000, b"k")),
    ],
    ids=["ours", "ours, local", "SLURM", "SLURM and ours", "Open MPI", "Kubernetes"],
)
def test_a_process_finds_its_place(environ: dict[str, str], place: ProcessRank) -> None:
    assert find_place(environ) == place


@pytest.mark.parametrize(
    "environ",
    [
        {},
        {"GRAPHC_AUTHKEY": "k"},
        {**SLURM, "SLURM_STEP_NUM_TASKS": "1"},
        {name: value for name, value in SLURM.items() if name != "SLURM_STEP_NODELIST"},  # a batch script, without srun
        {name: value for name, value in KUBERNETES.items() if name == "KUBERNETES_SERVICE_HOST"},
        {**OURS, "GRAPHC_PROCESSES": "1", "GRAPHC_PROCESS_ID": "0"},
    ],
)
def test_a_process_that_is_alone_has_none(environ: dict[str, str]) -> None:
    assert find_place(environ) is None


@pytest.mark.parametrize(
    ("environ", "said"),
    [
        (
            {"GRAPHC_PROCESSES": "2"},
            "lacks GRAPHC_PROCESS_ID, GRAPHC_COORDINATOR, GRAPHC_AUTHKEY: set GRAPHC_PROCESSES",
        ),
        ({**SLURM, "GRAPHC_AUTHKEY": ""}, "lacks GRAPHC_AUTHKEY: set"),
        ({**OPEN_MPI, "OMPI_MCA_orte_hnp_uri": ""}, "lacks GRAPHC_COORDINATOR: set"),
        (
            {**OURS, "GRAPHC_PROCESS_ID": "4"},
            "there are 4 processes, numbered from 0, and this one is said to be number 4",
        ),
        ({**OURS, "GRAPHC_PROCESS_ID": "one"}, "the rank of this process must be a number, got 'one'"),
        ({**OURS, "GRAPHC_COORDINATOR": "10.0.0.1"}, "GRAPHC_COORDINATOR must be host:port, with .* got '10.0.0.1'"),
        ({**OURS, "GRAPHC_COORDINATOR": "0.0.0.0:5000"}, "one interface of rank 0's machine, got '0.0.0.0:5000'"),
    ],
)
def test_what_is_missing_or_wrong_is_named(environ: dict[str, str], said: str) -> None:
    with pytest.raises(InvalidArgumentError, match=said):
        find_place(environ)

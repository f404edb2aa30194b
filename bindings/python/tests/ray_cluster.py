"""rsalab.ray on a cluster of three nodes on this machine, one of which is removed in the middle.

    ray_cluster.py [KEYS [MODULI]]

scripts/ray-test.sh runs it.
"""

import importlib
import json
import os
import subprocess
import sys
import tarfile
import tempfile
import time
from pathlib import Path
from typing import Any

import rsalab.audit
import rsalab.ray
from rsalab.study import Study

# It is installed for this alone, and has no types that mypy would find elsewhere.
ray: Any = importlib.import_module("ray")
Cluster: Any = importlib.import_module("ray.cluster_utils").Cluster

PLAN = Path(__file__).parents[3] / "scripts" / "parts.toml"
MODULI = PLAN.with_name("moduli.sh")


def remove_after(cluster: Any, node: Any, parts: int) -> Any:
    """Removes a node once so many parts are done."""

    def progress(done: int, of: int) -> None:
        if done == parts and node in cluster.worker_nodes:
            print(f"ray-test: {done} of {of} parts are done: a node is removed", flush=True)
            cluster.remove_node(node, allow_graceful=False)

    return progress


def local(path: Path | str) -> Path:
    """The path of something that was made in a folder."""
    assert isinstance(path, Path)
    return path


def entries(archive: Path) -> list[dict[str, Any]]:
    with tarfile.open(archive) as opened:
        manifest = opened.extractfile("manifest.jsonl")
        assert manifest is not None
        return [json.loads(line) for line in manifest.read().splitlines()[1:]]


def main() -> None:
    count = int(sys.argv[1]) if len(sys.argv) > 1 else 20_000
    of_audit = int(sys.argv[2]) if len(sys.argv) > 2 else 3_000
    # Private keys, and what workers may still be writing when something has failed.
    with tempfile.TemporaryDirectory(prefix="rsalab-ray-test-", ignore_cleanup_errors=True) as folder:
        test(Path(folder), count, of_audit)
    print("ray-test: ok")


def test(here: Path, count: int, of_audit: int) -> None:
    began = time.monotonic()
    cluster = Cluster(initialize_head=True, head_node_args={"num_cpus": 1})
    nodes = [cluster.add_node(num_cpus=1) for _ in range(2)]
    ray.init(address=cluster.address)
    print(f"ray-test: Ray {ray.__version__}, {len(ray.nodes())} nodes after {time.monotonic() - began:.0f} s", flush=True)

    began = time.monotonic()
    made = local(rsalab.ray.keygen(here / "keys", count, parts=20, progress=remove_after(cluster, nodes[0], 4)))
    took = time.monotonic() - began
    found = entries(made)
    assert len({entry["sha256"] for entry in found}) == len(found) == count
    assert [entry["number"] for entry in found] == list(range(1, count + 1))
    assert not (here / "keys/parts").exists()
    print(f"ray-test: {count} distinct keys in {took:.1f} s, {count / took:.0f} a second", flush=True)
    # Done once.
    assert rsalab.ray.keygen(here / "keys", count, parts=20) == made

    node = cluster.add_node(num_cpus=1)
    began = time.monotonic()
    whole = local(rsalab.ray.study(here / "study", PLAN, parts=10, progress=remove_after(cluster, node, 3)))
    study = Study.open(whole)
    cells = study.cells.to_dict()
    assert len(cells["engine"]) == 60, len(cells["engine"])
    assert set(cells["state"]) == {"done"}, set(cells["state"])
    print(f"ray-test: a study of 60 cells, each once, in {time.monotonic() - began:.1f} s", flush=True)

    node = cluster.add_node(num_cpus=1)
    moduli = here / "moduli"
    moduli.write_bytes(subprocess.run(["sh", str(MODULI), str(of_audit)], stdout=subprocess.PIPE, check=True).stdout)
    began = time.monotonic()
    scratch = here / "scratch"
    progress = remove_after(cluster, node, 1)
    findings = local(rsalab.ray.audit(here / "audit", [moduli], parts=4, scratch=scratch, progress=progress))
    took = time.monotonic() - began
    words = ["audit", str(moduli), "--json", "--fail-on", "never", "--quiet"]
    one = subprocess.run([os.environ["RSALAB_PROGRAM"], *words], stdout=subprocess.PIPE, check=True).stdout
    assert findings.read_bytes() == one
    rules = {finding.rule for finding in rsalab.audit.read(findings).findings}
    assert "shared-prime" in rules, rules
    print(f"ray-test: {of_audit} moduli audited in 4 parts, as one audit, in {took:.1f} s", flush=True)

    # The same CPUs, with and without Ray, in turn: two tasks of a CPU each beside the program with two threads.
    ratios = []
    for turn in range(3):
        began = time.monotonic()
        rsalab.ray.keygen(here / f"ray-{turn}", count // 2, parts=10)
        by_ray = time.monotonic() - began
        began = time.monotonic()
        words = ["keygen", "--count", str(count // 2), "--threads", "2", "--quiet", "--out", str(here / f"plain-{turn}.tar")]
        subprocess.run([os.environ["RSALAB_PROGRAM"], *words], check=True)
        plain = time.monotonic() - began
        ratios.append(by_ray / plain)
        print(f"ray-test: {count // 2} keys: {by_ray:.1f} s by Ray, {plain:.1f} s plain: {by_ray / plain:.3f}", flush=True)
    print(f"ray-test: time by Ray over plain: {sorted(ratios)[1]:.3f} ({min(ratios):.3f} to {max(ratios):.3f})")
    ray.shutdown()
    cluster.shutdown()


if __name__ == "__main__":
    main()

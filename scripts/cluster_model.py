#!/usr/bin/env python3
"""How long keys and audits take on many machines, on paper: from rates that were measured on one.

    scripts/cluster_model.py keys  --count 1e9 --rate 430            # a CPU makes 430 keys of 2048 bits a second
    scripts/cluster_model.py audit --moduli 1e8 --seconds 65536:6 262144:28 --examine 0.00045

A table for 1 to 1,000 nodes: time, what bounds it, bytes that move. docs/src/how-to/many-machines.md has the formulas.
"""

import argparse
import itertools
import math

NODES = [1, 2, 5, 10, 20, 50, 100, 200, 500, 1000]


def shown(seconds: float) -> str:
    for name, unit in (("days", 86400), ("hours", 3600), ("minutes", 60)):
        if seconds >= 2 * unit:
            return f"{seconds / unit:.1f} {name}"
    return f"{seconds:.1f} s"


def sized(count: float) -> str:
    for name, unit in (("PB", 1e15), ("TB", 1e12), ("GB", 1e9)):
        if count >= unit:
            return f"{count / unit:.1f} {name}"
    return f"{count / 1e6:.1f} MB"


def keys(options: argparse.Namespace, nodes: int) -> tuple[float, str, float]:
    """Parts are dealt to nodes; each writes its archive; one node reads all twice, for checksums and to copy, and writes
    the whole. A part that was killed goes on where it stopped, and loses its start."""
    parts = max(nodes, options.parts)
    work = options.count / parts / (options.cpus * options.rate) + options.start
    waves = math.ceil(parts / nodes)
    made = waves * work
    # A failure costs a start, and the wait until the scheduler sees it.
    failures = nodes * made / (options.mtbf * 3600)
    lost = failures / nodes * (options.start + options.notice)
    size = options.count * options.bytes
    merge = 0 if options.index else 3 * size / options.disk
    merge += options.count * options.entry / options.disk
    bound = "the merge, on one disk" if merge > made else "making keys"
    return made + lost + merge, bound, size * (1 if options.index else 2)


def of_batch(points: list[tuple[float, float]], count: float) -> float:
    """Seconds for the shared factors of so many moduli: a n log2(n)^2, through the points on both sides, or the last
    two."""
    cost = lambda n: n * max(1.0, math.log2(n)) ** 2
    if len(points) == 1:
        return points[0][1] * cost(count) / cost(points[0][0])
    pairs = list(itertools.pairwise(points))
    (n0, t0), (n1, t1) = next((pair for pair in pairs if count <= pair[1][0]), pairs[-1])
    power = math.log((t1 / cost(n1)) / (t0 / cost(n0))) / math.log(n1 / n0)
    return t1 * cost(count) / cost(n1) * (count / n1) ** power


def audit(options: argparse.Namespace, nodes: int) -> tuple[float, str, float]:
    """Moduli in k subsets, dealt to the nodes; k is the smallest multiple of the nodes for which a subset's tree fits the
    memory. A node reads all moduli, examines its share of them, and of each of its subsets makes the product, which the
    others read, and the tree, which meets the products of the k - 1 others, each of which costs half a level of it. What
    reading costs is the store's time, or that of its own CPUs for the text of each key, whichever is more."""
    tree = options.memory - options.moduli * options.kept / (nodes if options.own_only else 1)
    if tree <= 0:
        return math.inf, f"memory: {sized(options.moduli * options.kept)} for what is known of all keys", 0.0
    k = nodes * max(1, math.ceil(options.moduli * options.per_modulus / tree / nodes))
    of_subset, subsets = options.moduli / k, k / nodes
    threads = options.cpus * options.efficiency
    whole = of_batch(options.seconds, of_subset)
    others = (k - 1) * 0.55 / math.log2(max(2.0, of_subset)) if k > 1 else 0.0
    search = subsets * whole * (1 + others + (0.27 if k > 1 else 0)) / threads
    examine = options.moduli / nodes * options.examine / threads
    # The moduli by each node, and the products of all other subsets for each of its own.
    moved = nodes * options.moduli * options.modulus + k * (k - 1) * of_subset * options.modulus
    read = moved / options.network
    parts = {"examining keys": examine, "the products of other subsets": search * others / (1.27 + others)}
    parts["trees"] = search - parts["the products of other subsets"]
    parse = options.moduli * options.parse / threads
    parts["reading"] = max(read, parse)
    time = max(search + examine + parse, read) + options.start
    return time, f"k = {k}: {max(parts, key=parts.__getitem__)}", moved


def point(text: str) -> tuple[float, float]:
    count, seconds = text.split(":")
    return float(count), float(seconds)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    work = parser.add_subparsers(dest="work", required=True)
    of_keys = work.add_parser("keys", help="many private keys")
    of_keys.add_argument("--count", type=float, default=1e9)
    of_keys.add_argument("--rate", type=float, required=True, help="keys a second of a CPU")
    of_keys.add_argument("--parts", type=int, default=1000)
    of_keys.add_argument("--bytes", type=float, default=2560, help="of a key in an archive")
    of_keys.add_argument("--entry", type=float, default=200, help="bytes of a key in a manifest")
    of_keys.add_argument("--index", action="store_true", help="the archives stay where they are")
    of_audit = work.add_parser("audit", help="factors that moduli share")
    of_audit.add_argument("--moduli", type=float, default=1e10)
    of_audit.add_argument("--seconds", type=point, nargs="+", required=True, help="moduli:seconds, of one CPU")
    of_audit.add_argument("--modulus", type=float, default=256, help="bytes")
    of_audit.add_argument("--memory", type=float, default=64e9, help="bytes of a node")
    of_audit.add_argument("--per-modulus", type=float, default=8000, help="bytes of memory that a modulus takes in a tree")
    of_audit.add_argument("--kept", type=float, default=956, help="bytes that are kept of a key, its modulus among them")
    of_audit.add_argument("--own-only", action="store_true", help="a node keeps its share alone, which rsalab does not do")
    of_audit.add_argument("--examine", type=float, default=0.0, help="seconds of a CPU to examine a key; 0: search only")
    # Fitted to parts as 37 µs, of which the text of a key took 12 and takes 2 now: what each part does once for all keys.
    of_audit.add_argument("--parse", type=float, default=27e-6, help="seconds of a CPU to read and enter a key")
    of_audit.add_argument("--network", type=float, default=10e9, help="bytes a second of the store that all nodes read")
    of_audit.add_argument("--efficiency", type=float, default=0.8, help="of the CPUs of a node together")
    for one in (of_keys, of_audit):
        one.add_argument("--cpus", type=int, default=16, help="of a node")
        one.add_argument("--start", type=float, default=2.0, help="seconds of a task before it works")
    of_keys.add_argument("--disk", type=float, default=1e9, help="bytes a second where the parts are merged")
    of_keys.add_argument("--mtbf", type=float, default=5000.0, help="hours between failures of a node")
    of_keys.add_argument("--notice", type=float, default=300.0, help="seconds until a lost node is noticed")
    of_keys.add_argument("--nodes", type=int, nargs="+", default=NODES)
    of_audit.add_argument("--nodes", type=int, nargs="+", default=NODES)
    options = parser.parse_args()
    model = keys if options.work == "keys" else audit
    first = None
    print(f"{'nodes':>6}  {'time':>14}  {'efficiency':>10}  {'moved':>9}  bound by")
    for nodes in options.nodes:
        time, bound, moved = model(options, nodes)
        if math.isinf(time):
            print(f"{nodes:>6}  {'impossible':>14}  {'–':>10}  {'–':>9}  {bound}")
            continue
        # Of the smallest count that can do it.
        first = first or time * nodes
        print(f"{nodes:>6}  {shown(time):>14}  {first / (time * nodes):>10.0%}  {sized(moved):>9}  {bound}")


if __name__ == "__main__":
    main()

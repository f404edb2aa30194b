"""The table, or JSON, of what haproxy.sh measured: handshakes.py FOLDER TICKS JSON

FOLDER/runs: bits threads clients provider handshakes failed seconds median p99 client_ticks server_ticks histogram..., a line a run.
FOLDER/signing: bits threads default rsalab: signatures a second, one at a time (`openssl speed`).

It ends with code 1, below the table, if a handshake failed, or if the provider's batches have fewer signatures than
there were handshakes.
"""
import collections, json, statistics, sys

folder, ticks, as_json = sys.argv[1], float(sys.argv[2]), sys.argv[3] == "1"
signing = {}
with open(f"{folder}/signing") as lines:
    for line in lines:
        bits, threads, default, rsalab = line.split()
        signing[int(bits), int(threads)] = {"default": 1e6 / float(default), "rsalab": 1e6 / float(rsalab)}
runs = collections.defaultdict(list)
faults = []
with open(f"{folder}/runs") as lines:
    for line in lines:
        bits, threads, clients, provider, made, failed, seconds, median, p99, client, server, *batches = line.split()
        made, seconds = int(made), float(seconds)
        what = f"RSA-{bits}, {threads} threads, {clients} clients, {provider}"
        if int(failed):
            faults.append(f"{what}: {failed} handshakes failed, {made} did not")
        signed = sum(int(size) * int(count) for size, count in (pair.split(":") for pair in batches))
        if provider == "rsalab" and signed < made:
            faults.append(f"{what}: {signed} signatures by the provider for {made} handshakes")
        if not made:
            sys.exit(f"handshakes.py: {what}: no handshake")
        runs[int(bits), int(threads), int(clients), provider].append({
            "handshakes_per_second": made / seconds,
            "median_us": float(median),
            "p99_us": float(p99),
            "failed": int(failed),
            "server_cpu_us_per_handshake": float(server) / ticks / made * 1e6,
            "client_cpu_us_per_handshake": float(client) / ticks / made * 1e6,
            "server_busy": float(server) / ticks / seconds / int(threads),
            "batches": dict(pair.split(":") for pair in batches),
        })

MEDIANS = ["handshakes_per_second", "median_us", "p99_us", "server_cpu_us_per_handshake", "client_cpu_us_per_handshake", "server_busy"]
rows = []
for (bits, threads, clients, provider), of_cell in runs.items():
    row = {"bits": bits, "threads": threads, "clients": clients, "provider": provider, "rounds": len(of_cell)}
    row |= {name: statistics.median(run[name] for run in of_cell) for name in MEDIANS}
    row["failed"] = sum(run["failed"] for run in of_cell)
    row["handshakes_per_server_cpu_second"] = 1e6 / row["server_cpu_us_per_handshake"]
    batches = collections.Counter()
    for run in of_cell:
        batches.update({int(size): int(count) for size, count in run["batches"].items()})
    row["batches"] = dict(sorted(batches.items()))
    rows.append(row)
cells = {(row["bits"], row["threads"], row["clients"], row["provider"]): row for row in rows}
for row in rows:
    default = cells[row["bits"], row["threads"], row["clients"], "default"]
    alone = signing[row["bits"], row["threads"]]
    # With the default provider signing costs what one signature alone costs. All else in a handshake is the same for both; what is left of ours is its signing.
    other = default["server_cpu_us_per_handshake"] - alone["default"]
    row["signature_alone_us"] = alone[row["provider"]]
    row["signing_us"] = alone["default"] if row is default else row["server_cpu_us_per_handshake"] - other
    row["signing_share"] = row["signing_us"] / row["server_cpu_us_per_handshake"]
    row["ratio_of_cpu"] = default["server_cpu_us_per_handshake"] / row["server_cpu_us_per_handshake"]
    row["ratio_of_rate"] = row["handshakes_per_second"] / default["handshakes_per_second"]
    row["ratio_of_signing"] = alone["default"] / row["signing_us"] if row["signing_us"] > 0 else None

with open(f"{folder}/version") as text:
    versions = text.read().splitlines()
if as_json:
    json.dump({"versions": versions, "rows": rows}, sys.stdout, indent=1)
    print()
    sys.exit("\n".join(faults) or 0)

print("; ".join(versions))
print("Medians over rounds. cpu: HAProxy's CPU time for one handshake; signing: of that, for the signature; share: signing over cpu; client: the clients' CPU time.")
print("Ratios: ours over the default provider's of the line above; `signing` is handshakes for each CPU second of signing.\n")
head = "bits thr clients provider   hs/s   median      p99  failed busy  hs/cpu-s    cpu signing share client | ratios: hs/s hs/cpu-s signing | batches"
print(head)
for row in rows:
    ratios = " " * 30
    if row["provider"] != "default":
        of_signing = f"{row['ratio_of_signing']:.2f}" if row["ratio_of_signing"] else "-"
        ratios = f"{row['ratio_of_rate']:13.2f} {row['ratio_of_cpu']:8.2f} {of_signing:>7}"
    batches = " ".join(f"{size}:{count}" for size, count in row["batches"].items() if count)
    print(
        f"{row['bits']:4} {row['threads']:3} {row['clients']:7} {row['provider']:8} {row['handshakes_per_second']:6.0f} {row['median_us']:6.0f}us"
        f" {row['p99_us']:6.0f}us {row['failed']:7} {row['server_busy']:4.0%} {row['handshakes_per_server_cpu_second']:9.0f}"
        f" {row['server_cpu_us_per_handshake']:4.0f}us {row['signing_us']:5.0f}us {row['signing_share']:5.0%}"
        f" {row['client_cpu_us_per_handshake']:4.0f}us | {ratios} | {batches}"
    )
sys.exit("\n".join(faults) or 0)

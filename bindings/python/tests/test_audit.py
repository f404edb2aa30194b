"""Audits: what the program finds, as Python gets it."""

from pathlib import Path

import pytest

import rsalab
from rsalab import audit

# Two moduli of 1024 bits that share a prime.
MODULI = (
    "d97b5640d90e9c9ed51d3e3548761934bdcfa254ae9272cf55f9e181c03645825d31aa58cacd3f9dbc71bf503f5c16ad3642"
    "fe809cd0158265e05594804fe7ecf0fdf7b376019ba3e713675f3dc8d04e5c1c668057f1d570046affc7d91cb9e75bfb306e"
    "01a2a5ae23f64f80344fa433eb549bb47e436299e84801da5d3e8ed9",
    "e2fe3b4504ee46fe9e24b786f6cc1bb18285a9dc991ff1183e0d112586bbaa37bf8d776d631175a1120ea4cd354467b30011"
    "b37896d7e0a9feb921de0922dbc7fc268657357a78bdc30abcf41d9de2626ac78b244d19c0673a299f87f5e4ddaa6e45ba0b"
    "54e2d80f4c26470356599b04ecb1ee1d4a1248c9206efcb902fe58a7",
)


def test_sound_keys_have_no_findings(tmp_path: Path) -> None:
    rsalab.generate_folder(tmp_path / "keys", 3, public=True)
    report = audit.run(tmp_path)
    assert report.findings == () and report.worst is None
    assert (report.summary.keys, report.summary.private, report.summary.moduli) == (6, 3, 3)


def test_findings_name_their_places(tmp_path: Path) -> None:
    (tmp_path / "moduli").write_text("\n".join(MODULI))
    (tmp_path / "torn.pem").write_text("-----BEGIN PUBLIC KEY-----\nMIIB")
    report = audit.run(tmp_path / "moduli", tmp_path / "torn.pem", threads=1)
    assert [finding.rule for finding in report.findings] == [
        "shared-prime",
        "short-modulus",
        "short-modulus",
        "unreadable",
    ]
    shared = report.findings[0]
    assert shared.severity is audit.Severity.CRITICAL is report.worst and str(shared.severity) == "critical"
    assert [(place.file, place.line) for place in shared.places] == [(str(tmp_path / "moduli"), n) for n in (1, 2)]
    assert [key.bits for key in shared.keys] == [1024, 1024] and len(shared.keys[0].fingerprint) == 64
    assert "revoke" in shared.remedy and "Heninger" in shared.source
    assert report.findings[-1].severity < audit.Severity.HIGH
    few = audit.run(tmp_path, ignore=["short-modulus", "shared-prime"])
    assert [finding.rule for finding in few.findings] == ["unreadable"]


def test_tables_have_rows() -> None:
    # A key of a test, and a row without one.
    corpus = Path(__file__).parents[3] / "fuzz" / "corpus" / "audit"
    for name in ("table-in-parquet", "table-in-parquet-packed-with-snappy"):
        report = audit.run(corpus / name, threads=1)
        assert report.summary.keys == 1
        assert [(finding.rule, finding.places[0].row) for finding in report.findings] == [("unreadable", 2)]


def test_what_makes_no_sense_is_an_exception(tmp_path: Path) -> None:
    with pytest.raises(rsalab.ArgumentError, match="no such rule"):
        audit.run(tmp_path, ignore=["nonsense"])
    with pytest.raises(rsalab.ArgumentError):
        audit.run()
    with pytest.raises(rsalab.ProgramError, match="missing"):
        audit.run(tmp_path / "missing")


def test_rules_have_titles() -> None:
    rules = audit.rules()
    assert len(rules) > 30 and rules["shared-prime"] == "Keys share a prime"


def test_new_keys_against_saved_ones(tmp_path: Path) -> None:
    old, new, store = tmp_path / "old", tmp_path / "new", tmp_path / "store"
    old.write_text(MODULI[0])
    new.write_text(MODULI[1])
    assert {finding.rule for finding in audit.run(old, save=store).findings} == {"short-modulus"}
    report = audit.run(new, against=store, add=True, memory=1 << 30, scratch=tmp_path / "scratch")
    shared = next(finding for finding in report.findings if finding.rule == "shared-prime")
    assert [place.file for place in shared.places] == [str(new), f"{store}:{old}"]
    assert "duplicate-key" in {finding.rule for finding in audit.run(new, against=store).findings}


def test_findings_are_read_back(tmp_path: Path) -> None:
    file = tmp_path / "findings.jsonl"
    file.write_text('{"summary":{"files":1,"without_keys":0,"keys":1,"private":0,"moduli":1,"foreign":0,"critical":0}}\n')
    assert audit.read(file).summary.keys == 1 and audit.read(file).worst is None
    for wrong in ("", "{}", "no JSON"):
        file.write_text(wrong)
        with pytest.raises(rsalab.errors.ArgumentError, match="has no findings of an audit"):
            audit.read(file)

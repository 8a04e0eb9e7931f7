"""Counts in the terminal."""

from pathlib import Path

from polars_scorio.command_line.main import main


def test_printed_counts_stand_for_the_log(log, capsys):
    assert main(["counts", log, "--by", "bench", "--format", "csv"]) == 0
    Path("counts.csv").write_text(capsys.readouterr().out)
    ranked = []
    for arguments in ([log], ["counts.csv", "--count", "count"]):
        assert main(["rank", *arguments, "--by", "bench", "--format", "csv"]) == 0
        ranked.append(capsys.readouterr().out)
    assert ranked[0] == ranked[1]

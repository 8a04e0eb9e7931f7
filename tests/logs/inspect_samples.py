"""Small logs of inspect_ai: the parts of a .eval archive that its reader needs."""

import json
import struct
import zipfile
import zlib

import pyarrow as pa


def sample(question, epoch, scores, error=None):
    """One entry of summaries.json."""
    known = {
        "id": question,
        "epoch": epoch,
        "input": "1 + 1",
        "target": "2",
        "metadata": {"topic": "sums"},
        "scores": {name: {"value": value, "answer": "2"} for name, value in scores.items()},
        "model_usage": {},
        "completed": True,
    }
    return {**known, "error": error} if error else known


def write_samples(folder, name, *samples, model="openai/gpt-5"):
    """Write a .eval log of some samples, and return its path."""
    header = {"version": 2, "status": "success", "eval": {"task": "sums", "model": model}}
    with zipfile.ZipFile(folder / name, "w") as archive:
        archive.writestr("header.json", json.dumps(header))
        archive.writestr("summaries.json", json.dumps(samples))
    return folder / name


def write_zstd_archive(path, members):
    """Write an archive whose members zstd has packed, as inspect_ai does by default.

    `zipfile` cannot before Python 3.14: it stores the packed bytes, and the headers are changed.
    """
    packed = {
        name: pa.compress(content, codec="zstd", asbytes=True) for name, content in members.items()
    }
    with zipfile.ZipFile(path, "w") as archive:
        for name, content in packed.items():
            archive.writestr(name, content)
        infos, directory = archive.infolist(), archive.fp.tell()
    data = bytearray(path.read_bytes())
    for info in infos:
        content = members[info.filename]
        # Method, check sum and both sizes, in the header of the member and in the directory.
        for start in (info.header_offset + 8, directory + 10):
            struct.pack_into("<H", data, start, 93)
            struct.pack_into("<I", data, start + 6, zlib.crc32(content))
            struct.pack_into("<I", data, start + 14, len(content))
        directory += 46 + len(info.filename)
    path.write_bytes(data)

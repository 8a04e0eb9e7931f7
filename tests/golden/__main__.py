"""Write the results anew: `python -m tests.golden`. Do so only for a change that users notice."""

import polars as pl

from tests.golden.calls import GOLDEN, cells_of_log
from tests.golden.logs import kinds_of_logs
from tests.golden.messages import MESSAGES, printed_sentences

if __name__ == "__main__":
    cells = pl.concat(cells_of_log(name, kind) for name, kind in kinds_of_logs().items())
    cells.write_parquet(GOLDEN, compression="zstd", compression_level=19)
    sentences = printed_sentences()
    MESSAGES.write_text("\n".join(sentences) + "\n", encoding="utf-8")
    print(f"{len(cells):,} cells, {len(sentences):,} sentences")

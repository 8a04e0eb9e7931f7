"""The pictures of the README. Run: python examples/readme_pictures.py [FOLDER]

Needs Pillow, which makes the files small: python -m pip install pillow
"""

import sys
from pathlib import Path

from PIL import Image
from rollouts import rollouts

import polars_scorio as ps

folder = Path(sys.argv[1] if len(sys.argv) > 1 else Path(__file__).parent / "pictures")
folder.mkdir(exist_ok=True)
plot = rollouts().scorio(by="domain").plot
pictures = {
    "intervals": plot.intervals(overall="macro"),
    "curve": plot.curve(ps.pass_hat_k([1, 2, 4, 8]), highlight=["comet-70b", "atlas-7b"]),
    "comparison": plot.comparison(),
}
for name, picture in pictures.items():
    path = folder / f"{name}.png"
    picture.save(path, scale_factor=2)
    Image.open(path).convert("RGB").quantize(128).save(path, optimize=True)
    print(f"{path}: {path.stat().st_size / 1000:.0f} kB")

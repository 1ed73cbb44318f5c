"""What pages of measurements say alike: the machine, and tables."""

from pathlib import Path


def processor() -> str:
    """Return the name of this machine's processor."""
    lines = Path("/proc/cpuinfo").read_text().splitlines()
    return next((line.split(":")[1].strip() for line in lines if "model name" in line), "?")


def table(names: list[str], rows: list[list[str]]) -> str:
    """Render a Markdown table."""
    return "\n".join("| " + " | ".join(row) + " |" for row in [names, ["---"] * len(names), *rows]) + "\n"

"""In a process of its own, as the notebook starts and stops Spark."""

import subprocess
import sys

import pytest
from notebooks import notebook

pytestmark = [pytest.mark.spark, pytest.mark.slow]


def test_data_frame():
    subprocess.run([sys.executable, "-c", f"{notebook('spark')}\nassert kept == ['lobby', 'menu']"], check=True)

"""What the driver says of the errors that tasks met."""

import pytest

from lookalike.engines.spark.tasks import raised_again
from lookalike.errors import OutputError

JavaError = type("Py4JJavaError", (Exception,), {"__module__": "py4j.protocol"})
LOST = "Lost task 0.3 in stage 77.0 (TID 84) (10.0.0.7 executor 0): java.io.IOException: "


def test_a_full_disk_is_named_by_its_worker():
    with (
        pytest.raises(OutputError, match=r"no space left on a disk that Spark's worker 10\.0\.0\.7 writes to.*resume"),
        raised_again(),
    ):
        raise JavaError(f"{LOST}No space left on device\n\tat java.base")


def test_a_full_disk_is_told_where_nothing_names_it():
    with pytest.raises(OutputError, match="a disk that one of Spark's workers writes to"), raised_again():
        raise JavaError("OSError: [Errno 28] No space left on device")


def test_other_errors_of_spark_are_as_they_were():
    with pytest.raises(JavaError, match="Connection reset"), raised_again():
        raise JavaError(f"{LOST}Connection reset")

"""What ``cluster_runs`` starts, steers and kills."""

import importlib
import json
import os
import sys
import time

MARKED = "marked"
"""A word of the document at which tokenizers do what they are named for."""


def at_first(text):
    if MARKED not in text or "pyspark" not in sys.modules:
        return False
    from pyspark import TaskContext

    context = TaskContext.get()
    return context is not None and context.attemptNumber() == 0


def dawdles(text):
    if at_first(text):
        time.sleep(20)
    return text.split()


def stumbles(text):
    if at_first(text):
        raise RuntimeError("the first attempt fails")
    return text.split()


def waits(text):
    gate = os.environ.get("LOOKALIKE_TEST_GATE")
    if MARKED in text and gate:
        open(f"{gate}.reached", "w").close()
        while os.path.exists(gate):
            time.sleep(0.05)
    return text.split()


TOKENIZERS = {"dawdles": dawdles, "stumbles": stumbles, "waits": waits}


def _session(given):
    from pyspark.sql import SparkSession

    builder = SparkSession.builder.appName("cluster")
    for name, value in given.items():
        builder = builder.config(name, value)
    made = builder.getOrCreate()
    made.sparkContext.setLogLevel("ERROR")
    return made


def say(**what):
    print(json.dumps(what), flush=True)


def main():
    job = json.loads(sys.argv[1])
    session = _session(job["session"])
    import lookalike as la
    from lookalike.engines.spark.engine import SparkEngine
    from lookalike.errors import LookalikeError

    SparkEngine.few_bytes = -1  # tasks do all
    if not job["frame"]:
        SparkEngine.components = None  # and jobs on files go by rounds

    def progress(name, _):
        say(making=name)
        if job["asks"]:
            sys.stdin.readline()

    data, settings = job["data"], job["settings"]
    if "tokenizer" in settings:
        settings["tokenizer"] = importlib.import_module("spark.cluster_job").TOKENIZERS[settings["tokenizer"]]
    if job["frame"]:
        data = session.read.schema("text string, key bigint").parquet(*data)  # else tasks look for it, which may have to wait
    # Tables are told by their own names, not by those of stages, which people are shown.
    importlib.import_module("lookalike.recipes.spark.job").report_stage = lambda report, name, amount: report(name, amount)
    try:
        with la.dedup(data, engine=session, progress=progress, **settings) as result:
            say(making="result")
            result.decisions.write.parquet(job["decisions"])
            if result.pairs is not None:
                result.pairs.write.parquet(job["pairs"])
            say(done=True, kept=result.summary.kept, seconds=result.summary.seconds, peak=result.summary.peak_memory)
    except LookalikeError as error:
        say(refused=str(error), kind=type(error).__name__)
    except Exception as error:
        say(failed=str(error), kind=type(error).__name__)
    session.stop()


if __name__ == "__main__":
    main()

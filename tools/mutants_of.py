"""What `tools/mutate.py` reads: the tests that notice a change in each file, and the mutants that no test can kill."""

import os
from functools import cache
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
SOURCE = Path("src/lookalike")
PLAIN, CHECKED = {"NUMBA_DISABLE_JIT": "1"}, {"NUMBA_BOUNDSCHECK": "1"}
UNCACHED = {"NUMBA_CACHE_DIR": os.devnull}  # each process compiles its own
KERNELS = ["tests/kernels", "tests/golden"]
FORMULAS = ("bbit", "chance", "choose", "fractional", "minhash", "mixture", "one_permutation", "quantization", "set_distance", "setsketch",
            "xor_bits")  # fmt: skip
# What notices a change in each file, quickest first; kernels are run as plain Python where that is enough.
SUITES: dict[str, tuple[list[str], dict[str, str]]] = {
    **{
        f"theory/{name}.py": (
            [f"tests/theory/test_{t}.py" for t in ("edges", "mixtures", "bbit", "one_permutation", "ranges", "banding")]
            + ["tests/statistics"],
            {},
        )
        for name in FORMULAS
    },
    **{
        f"theory/{name}.py": (
            [
                "tests/theory/test_simhash.py",
                "tests/theory/test_hamming_costs.py",
                "tests/theory/test_ranges.py",
                "tests/statistics/test_standard_errors.py",
                "tests/kernels/test_self_join.py",
                "tests/protocols",
            ],
            {},
        )
        for name in ("blocks", "hamming_costs", "hamming_search", "simhash", "weak_bits")
    },
    "theory/banding.py": (["tests/theory/test_banding.py", "tests/theory/test_edges.py"], {}),
    "planner.py": (["tests/golden", "tests/theory/test_banding.py", "tests/cli"], {}),
    "kernels/walk.py": (["tests/kernels/test_walk.py", "tests/steps/test_walk.py"], CHECKED),
    "steps/walk.py": (["tests/steps/test_walk.py", "tests/recipes/test_twin.py"], {}),
    **{
        f"kernels/{name}.py": (["tests/kernels/test_shingling.py", "tests/golden", "tests/steps/test_sketch.py"], PLAIN)
        for name in ("folding", "shingling", "_plain")
    },
    **{
        f"kernels/{name}.py": (
            [f"tests/steps/test_{step}.py" for step in ("bucket", "near", "rare", "vouch", "cut", "walk")],
            PLAIN,
        )
        for name in ("crowds", "rare", "cut")
    },
    **{f"kernels/{name}.py": (["tests/kernels/test_packing.py"], PLAIN) for name in ("all_pairs", "one_permutation")},
    "kernels/sorting.py": (["tests/kernels/test_sorting_depth.py", "tests/kernels/test_lookup.py", *KERNELS], PLAIN),
    "kernels/weighted.py": (["tests/kernels/test_weighted.py", "tests/statistics/test_packed.py"], {}),
    "hashing.py": (["tests/kernels/test_families.py", "tests/kernels/test_sketches.py", "tests/values", "tests/golden"], {}),
    "cli/tune.py": (["tests/cli/test_odd_values.py", "tests/cli"], {}),
    "cli/index.py": (["tests/cli/test_index_cli.py", "tests/cli"], {}),
    "index/reader.py": (["tests/index/test_threads.py", "tests/index/test_index.py", "tests/index/test_lasting.py"], {}),
    "recipes/passages.py": (["tests/recipes/test_overlap.py"], {}),
    "search/_fingerprints.py": (["tests/protocols/test_hamming_indexes.py", "tests/values", "tests/protocols"], {}),
    "values/weighted.py": (
        ["tests/recipes/test_features.py", "tests/values", "tests/index/test_kinds.py", "tests/statistics/test_packed.py"],
        {},
    ),
    "kernels/bbit.py": (["tests/kernels/test_packing.py", *KERNELS], PLAIN),
    "kernels/banding.py": (["tests/kernels/test_banding.py", *KERNELS, "tests/recipes/test_brute_force.py"], CHECKED),
    "kernels/resemblance.py": (["tests/kernels/test_resemblance.py", *KERNELS], PLAIN),
    **{
        f"kernels/{name}.py": (["tests/kernels/test_hamming.py", "tests/protocols"], CHECKED)
        for name in ("hamming", "tables", "weak_bits")
    },
    "kernels/self_join.py": (["tests/kernels/test_self_join.py"], CHECKED),
    "kernels/lookup.py": (["tests/kernels/test_lookup.py"], PLAIN),
    "kernels/_jit.py": (
        ["tests/kernels/test_compile.py", "tests/kernels/test_shingling.py", "tests/kernels/test_walk.py"],
        UNCACHED,
    ),
    "search/hamming.py": (["tests/protocols/test_hamming_indexes.py", "tests/protocols"], {}),
    "search/tune.py": (["tests/theory/test_hamming_costs.py", "tests/cli/test_odd_values.py"], {}),
    "search/weak_bits.py": (["tests/protocols", "tests/theory/test_hamming_costs.py"], {}),
    "search/tables.py": (["tests/protocols"], {}),
}
# Files that are not named above: the tests of their room, then whole jobs.
STEPS = [f"tests/steps/test_{name}.py" for name in ("small", "batches", "binary", "bucket", "exact_bundle_name", "cut", "decide", "near", "nibbles",
                                                    "rounds", "walk", "sketch", "rare", "vouch")]  # fmt: skip
WHOLE = ["tests/recipes/test_contract.py", "tests/engines/test_whole_jobs.py", "tests/recipes/test_twin.py"]
SKETCHES = [
    "tests/search/test_empty_documents.py",
    "tests/kernels/test_sketches.py",
    "tests/kernels/test_families.py",
    "tests/kernels/test_packing.py",
    "tests/golden",
    "tests/files/test_sketch_files.py",
    "tests/values",
    "tests/statistics",
]
ROOMS: dict[str, tuple[list[str], dict[str, str]]] = {
    "": (["tests/test_packages.py", "tests/theory/test_banding.py", "tests/recipes/test_surface.py", *SKETCHES], {}),
    "theory": (
        [
            "tests/theory",
            "tests/statistics",
            "tests/steps/test_vouch.py",
            "tests/methods/test_methods.py",
            "tests/recipes/test_recall.py",
        ],
        {},
    ),
    "report": (["tests/report"], {}),
    "serve": (["tests/serve"], {}),
    "spark": (["tests/engines/spark/test_frames.py", "tests/spark/test_writing.py", "tests/cli/test_engines.py"], {}),
    "files": (
        [
            f"tests/files/test_{name}.py"
            for name in (
                "layout",
                "names",
                "container",
                "streams",
                "growing",
                "loaders",
                "sketch_files",
                "outputs",
                "inputs",
                "workspace",
                "atomic",
            )
        ],
        {},
    ),
    "kernels": (
        [
            f"tests/kernels/test_{name}.py"
            for name in (
                "sketches",
                "families",
                "hashing",
                "codes",
                "packing",
                "shingling",
                "resemblance",
                "lookup",
                "walk",
                "banding",
                "hamming",
                "self_join",
            )
        ]
        + [
            "tests/golden",
            *STEPS,
            "tests/methods/test_methods.py",
            "tests/recipes/test_overlap.py",
        ],
        PLAIN,
    ),
    "values": (["tests/values", "tests/recipes/test_column_values.py", *SKETCHES, "tests/kernels/test_hamming.py"], {}),
    "text": (
        [
            "tests/text/test_characters.py",
            "tests/kernels/test_shingling.py",
            "tests/methods/test_features.py",
            "tests/recipes/test_features.py",
            "tests/recipes/test_html.py",
            "tests/recipes/test_texts.py",
            "tests/golden",
        ],
        {},
    ),
    "sketches": (SKETCHES, {}),
    "search": (
        [
            "tests/search",
            "tests/kernels/test_packing.py",
            "tests/kernels/test_self_join.py",
            "tests/kernels/test_banding.py",
            "tests/theory/test_hamming_costs.py",
            "tests/protocols",
        ],
        {},
    ),
    "methods": (["tests/methods", "tests/steps/test_sketch.py", "tests/recipes/test_simhash_method.py", *WHOLE], {}),
    "formats": (["tests/formats", "tests/files/test_outputs.py"], {}),
    "inputs": (
        [
            "tests/inputs",
            "tests/recipes/test_ids.py",
            "tests/recipes/test_references.py",
            "tests/recipes/test_column_values.py",
            *WHOLE,
        ],
        {},
    ),
    "steps": ([*STEPS, *WHOLE], {}),
    "engines": (
        [
            f"tests/engines/test_{name}.py"
            for name in (
                "local_columns",
                "local_joins",
                "memory",
                "local_numbers",
                "local_tables",
                "local_sort",
                "local_bundles",
                "local_keeping",
                "local_documents",
                "local_texts",
                "local_ranks",
                "registry",
                "meeting",
                "protocol",
                "local_limits",
            )
        ]
        + WHOLE,
        {},
    ),
    "index": (
        [f"tests/index/test_{name}.py" for name in ("ids", "index", "lasting", "hostile", "durability", "threads")]
        + ["tests/cli/test_index_cli.py"],
        {},
    ),
    "recipes": (
        [
            f"tests/recipes/test_{name}.py"
            for name in (
                "rows",
                "settings",
                "checks",
                "surface",
                "opened",
                "opening",
                "result",
                "compare",
                "rethreshold",
                "summary",
                "references",
                "work_folder",
            )
        ]
        + ["tests/cli/test_cli.py", *WHOLE],
        {},
    ),
    "cli": (["tests/cli", "tests/recipes/test_surface.py"], {}),
}
# Mutants that no test can kill, since they change nothing that anyone could see: the beginning of each change, and why.
EQUIVALENT: dict[str, dict[str, str]] = {
    "kernels/folding.py": {"decode: `1 << 8 * length - 8`": "what follows a character is masked again where it is compared"},
    "methods/simhash.py": {
        "n_keys: `64` to `65`": "the same for all multiples of 32 up to 256, and fingerprints have no other sizes"
    },
    "engines/local/engine.py": {
        ": `20` to `21` in `SPILL_BYTES": "how much is held before it is written",
        "join: `not wide` to `wide`": "both ways look up the same rows; which is faster depends on their width",
    },
    "values/cells.py": {"_value_key: `0` to `1` in `return b": "the number is infinite"},
    "engines/local/documents.py": {": `1` to `2` in `PIECE_BYTES": "how much is read at a time"},
    "engines/local/numbers.py": {"_parts: `58` to `59`": "32 parts instead of 64, of which every other one is empty"},
    "files/spools.py": {
        "__init__: `1 << 20` to `1 >> 20`": "for 0 bytes at a time the standard library takes a size of its own"
    },
    "kernels/fast_similarity.py": {
        "sign_rows: `end > begin`": "nothing fills the slots of an empty row: they stay as they are"
    },
    "search/tune.py": {
        "choices: `sigma * np.exp(": "what is log-normal is so upside down: other margins of the same law",
        "measure_costs: `0` to `1` in `margins = ": "what is ordered is drawn at random, and only timed",
    },
    "theory/blocks.py": {": `85` to `86` in `if word": "another Steiner system of the same blocks, which finds the same"},
    "recipes/passages.py": {"_within: `0` to `1`": "what is subtracted is empty, and so is the difference"},
    "kernels/weighted.py": {"sign_icws: `log_a < best`": "real numbers drawn at random are not equal"},
    "steps/_batches.py": {"gather: `end > begin`": "no rows are put to others"},
    "steps/bucket.py": {"_all_links: `end // 2` to `end * 2`": "room that is not read"},
    "steps/rounds.py": {
        "resolve: `1` to `2` in `removed = np.zeros": "room, which grows",
        "resolve: `0` to `1` in `wanted = int(right": "eight orders share a byte: both are in the first",
    },
    "search/_fingerprints.py": {"_stored: `64` to `65`": "nothing was added: there is no row of that width"},
    "search/buckets.py": {
        "sorted_entries: `1` to `2` in `counts = ": "more parts, which are empty",
        "sorted_entries: `1` to `2` in `split = ": "room that is not read",
    },
    "theory/bbit.py": {"constants: `1.0` to `2.0`": "what chance_match is asked next refuses it too"},
    "theory/banding.py": {
        "mean_candidate_probability: `301`": "a point more of a numerical integral, an estimate that plans weigh"
    },
    "theory/choose.py": {
        "for_error: `slots * combined` ": "only breaks ties of memory",
        "for_memory: `slots * combined` ": "only breaks ties of the error",
        "candidates: `resemblance >= density / 2.0` ": "at equality the variance is infinite, and the choice never taken",
    },
    "theory/hamming_costs.py": {
        ": `23`": "measured, and measured anew by `lookalike tune`",
        ": `2.0 ** 20`": "measured, and measured anew by `lookalike tune`",
        ": `False` to `True` in `source": "where constants come from is told to people only",
    },
    "theory/minhash.py": {
        "exact_interval: `matches < trials`": "the bisection for 0 of n ends at 0 as well",
        "solve: `1.0` to `2.0`": "the bisection of a wider interval ends at the same point",
    },
    "theory/setsketch.py": {"most_likely_resemblance: `80`": "a step more of a bisection that has ended"},
    "planner.py": {
        ": `4000.0`": "measured nanoseconds, which only weigh shapes that all reach the recall",
    },
    "kernels/resemblance.py": {
        "number_values: `expected += 1`": "a guess, which is checked before it is used",
        "intersection: `blocks[i] < blocks[j]`": "those that are equal do not come here",
    },
    "kernels/banding.py": {"bucket_pairs: `0` to `1` in `earlier_bands": "one key alone has no pairs"},
    "search/tables.py": {
        "_search: `self.lookup == 'binary'`": "both ways find the same; the time differs",
        "_build: `1` to `2`": "room that is not read",
    },
    "search/weak_bits.py": {"of_sorted: `1` to `2`": "room that is not read"},
    "search/hamming.py": {
        "_build: `64` to `65`": "the number of bits is known once something was added",
        "_build: `1` to `2` in `memory": "how much more memory than asked for small indexes may take",
        "_run: `len(open_rows) < len(query)`": "a copy of the same queries",
    },
    "kernels/shingling.py": {"hash_separated: `0` to `1` in `start = 0`": "where a token begins is set before it is read"},
    "kernels/self_join.py": {
        "make_entries: `key >> np.uint64(29)`": "another mix: what is equal stays so, and the rest is compared",
        "join_runs: `entries[start + _AHEAD + 1] & low`": "what is fetched ahead, not what is compared",
        "join_runs: `1` to `2` in `if start + _AHEAD": "what is fetched ahead, not what is compared",
        "join_runs: `np.int64(entries[start + _AHEAD + 1] & low) *": "what is fetched ahead, not what is compared",
        "join_runs: `start + _AHEAD < n - 1 and": "what is fetched ahead, not what is compared",
    },
}


@cache
def suite(name: str) -> tuple[tuple[str, ...], dict[str, str]]:
    """Return what notices a change in a file: tests, those of the same name first, and the environment they run in."""
    tests, variables = SUITES.get(name) or ROOMS[name.rpartition("/")[0]]
    room, stem = name.removesuffix(".py").rpartition("/")[::2]
    own = f"tests/{room}/test_{stem.lstrip('_')}.py"
    named = [*([own] if (ROOT / own).exists() else []), *tests]
    files = (sorted((ROOT / test).rglob("test_*.py")) if (ROOT / test).is_dir() else [ROOT / test] for test in named)
    return tuple(dict.fromkeys(str(file.relative_to(ROOT)) for some in files for file in some)), variables


def reason(name: str, change: str) -> str:
    """Return why a mutant may live; empty if it may not."""
    return next((why for start, why in EQUIVALENT.get(name, {}).items() if change.startswith(start)), "")

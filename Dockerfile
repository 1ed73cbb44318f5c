# lookalike for Slurm, Kubernetes, the service or, with EXTRAS=spark and PACKAGES=default-jre-headless, Spark.
ARG PYTHON=3.13
FROM python:${PYTHON}-slim
ARG EXTRAS=report,html,warc,remote,serve
ARG PACKAGES=""
# hadolint ignore=DL3008
RUN test -z "${PACKAGES}" || \
    { apt-get update && apt-get install --yes --no-install-recommends ${PACKAGES} && rm -rf /var/lib/apt/lists/*; }
RUN --mount=type=bind,target=/source,rw pip install --no-cache-dir "/source[${EXTRAS}]"
RUN useradd --uid 1000 --create-home lookalike
USER 1000
WORKDIR /data
ENTRYPOINT ["lookalike"]

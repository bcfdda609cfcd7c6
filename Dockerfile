# Two images: `check`, which lints and estimates and has no TensorFlow, and `verify`, which has it and measures, too.
#
#   docker build --target check -t tfmemlint .
#   docker run --rm -v "$PWD:/code:ro" tfmemlint check --no-cache src
#
#   docker build --target verify -t tfmemlint-verify .
#   docker run --rm -v "$PWD:/code:ro" tfmemlint-verify verify --no-cache src/train.py

FROM python:3.12-slim AS check
# git is for --diff-base and --compare; a folder that is mounted belongs to somebody else.
RUN apt-get update \
    && apt-get install --yes --no-install-recommends git \
    && rm -rf /var/lib/apt/lists/* \
    && git config --system --add safe.directory '*'
COPY pyproject.toml README.md LICENSE /src/
COPY tfmemlint /src/tfmemlint
COPY rules /src/rules
COPY fixtures /src/fixtures
RUN pip install --no-cache-dir /src
RUN useradd --create-home user
USER user
WORKDIR /code
ENTRYPOINT ["tfmemlint"]
CMD ["check", "--no-cache", "."]

FROM check AS verify
USER root
RUN pip install --no-cache-dir "/src[verify]" "tensorflow-cpu==2.21.*"
USER user
CMD ["verify", "--no-cache", "."]

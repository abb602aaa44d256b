# leafid with its web page: docs/serve.md says how to start it. When it runs, it needs no network.
# Python 3.12.14 on Debian 13; Dependabot proposes newer ones.
FROM python:3.12-slim@sha256:78387bc3881b8273120a12ebe6c1ab22b018ccc2c9adf565ae1ac9b536e184ea AS base

FROM base AS build
WORKDIR /source
COPY setup.cfg pyproject.toml constraints.txt README.md LICENSE ./
COPY leafid leafid
COPY models models
# This image lacks the libraries of a desktop, which only the windows of OpenCV need.
RUN sed -i 's/^ *opencv-python/&-headless/' setup.cfg constraints.txt
RUN python -m venv /opt/leafid
RUN /opt/leafid/bin/pip install --no-cache-dir --constraint constraints.txt '.[web]'
RUN find /opt/leafid -name tests -type d -prune -exec rm -r {} +

FROM base
COPY --from=build /opt/leafid /opt/leafid
RUN useradd --create-home leafid
USER leafid
EXPOSE 8000
ENTRYPOINT ["/opt/leafid/bin/leafid"]
CMD ["serve", "--host", "0.0.0.0"]

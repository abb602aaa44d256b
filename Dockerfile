# leafid with its web page: docs/serve.md says how to start it. When it runs, it needs no network.
FROM python:3.12-slim AS build
WORKDIR /source
COPY setup.cfg pyproject.toml constraints.txt README.md LICENSE ./
COPY leafid leafid
COPY models models
# This image lacks the libraries of a desktop, which only the windows of OpenCV need.
RUN sed -i 's/^ *opencv-python/&-headless/' setup.cfg constraints.txt
RUN python -m venv /opt/leafid
RUN /opt/leafid/bin/pip install --no-cache-dir --constraint constraints.txt '.[web]'
RUN find /opt/leafid -name tests -type d -prune -exec rm -r {} +

FROM python:3.12-slim
COPY --from=build /opt/leafid /opt/leafid
RUN useradd --create-home leafid
USER leafid
EXPOSE 8000
ENTRYPOINT ["/opt/leafid/bin/leafid"]
CMD ["serve", "--host", "0.0.0.0"]

# airlock itself: the program that `make build` leaves, on a Debian base, as a user
# without rights. scripts/airlock-image.sh builds and tries it. Scripts run in the
# embedded sandbox; stdio servers of the catalog need their own runtimes, for which an
# image is made FROM this one.
ARG BASE_IMAGE=debian:bookworm-slim
FROM ${BASE_IMAGE}

RUN apt-get update \
 && DEBIAN_FRONTEND=noninteractive apt-get install -y --no-install-recommends ca-certificates \
 && apt-get clean \
 && rm -rf /var/lib/apt/lists/* \
 && useradd --uid 10001 --user-group --no-create-home --home-dir /data --shell /usr/sbin/nologin airlock \
 && install -d -m 700 -o airlock -g airlock /data

COPY bin/airlock /usr/local/bin/airlock
COPY catalog.json /etc/airlock/catalog.json

# Others can reach a container, so callers need keys: airlock keys create USER.
ENV HOST=0.0.0.0 PORT=3000 AUTH=keys DATA_DIR=/data CATALOG=/etc/airlock/catalog.json SANDBOX_BACKEND=wasm LOG_FORMAT=json

USER airlock
WORKDIR /data
VOLUME /data
EXPOSE 3000 3001
ENTRYPOINT ["/usr/local/bin/airlock"]
CMD ["serve"]

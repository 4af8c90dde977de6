# The image is based on Debian, because Temporal's native core needs glibc, which Alpine lacks.
FROM node:24.21.0-bookworm-slim AS build
WORKDIR /app
COPY package.json package-lock.json .npmrc ./
RUN npm ci
COPY tsconfig.json vitest.config.ts ./
COPY scripts scripts
COPY src src
COPY workflows workflows
COPY activities activities
# The SBOM is written before npm prune, because npm refuses to list a tree without its development dependencies.
RUN node scripts/build.mjs && npm sbom --omit=dev --sbom-format cyclonedx > sbom.json && npm prune --omit=dev
# Temporal's SDK contains its native core for five platforms. Those of the four other platforms take 113 MB.
RUN find node_modules/@temporalio/core-bridge/releases -mindepth 1 -maxdepth 1 ! -name "$(uname -m)-unknown-linux-gnu" \
  -exec rm -r {} +

FROM node:24.21.0-bookworm-slim
ENV NODE_ENV=production
WORKDIR /app
# Temporal's native core needs the root certificates for TLS. Node.js has its own.
RUN apt-get update && apt-get install --yes --no-install-recommends ca-certificates && rm -rf /var/lib/apt/lists/*
# sbom.json lists the contents of the image in CycloneDX format.
COPY --from=build /app/package.json /app/sbom.json ./
COPY --from=build /app/node_modules node_modules
COPY --from=build /app/dist dist
# JSON Schemas of `--json` output and notifications, and descriptions of tables, are for other programs.
COPY schemas schemas
# A volume that is mounted at this folder takes over its owner. The link lets kubectl exec find `enrich`.
RUN mkdir /var/lib/enrich && chown node:node /var/lib/enrich && ln -s /app/dist/cli/main.js /usr/local/bin/enrich
USER node
ENTRYPOINT ["node", "--enable-source-maps", "/app/dist/cli/main.js"]
CMD ["--help"]

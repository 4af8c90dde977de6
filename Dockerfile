# Debian and not Alpine: Temporal's native core is built against glibc.
FROM node:24.21.0-bookworm-slim AS build
WORKDIR /app
COPY package.json package-lock.json .npmrc ./
RUN npm ci
COPY tsconfig.json vitest.config.ts ./
COPY scripts scripts
COPY src src
COPY workflows workflows
COPY activities activities
# The list comes before the removal: npm refuses to describe a tree without its development dependencies.
RUN node scripts/build.mjs && npm sbom --omit=dev --sbom-format cyclonedx > sbom.json && npm prune --omit=dev
# Temporal's SDK carries its native core for five platforms, 113 MB of which are for others than this one.
RUN find node_modules/@temporalio/core-bridge/releases -mindepth 1 -maxdepth 1 ! -name "$(uname -m)-unknown-linux-gnu" \
  -exec rm -r {} +

FROM node:24.21.0-bookworm-slim
ENV NODE_ENV=production
WORKDIR /app
# The root certificates for TLS to the service and to Temporal; Node brings its own, the native core does not.
RUN apt-get update && apt-get install --yes --no-install-recommends ca-certificates && rm -rf /var/lib/apt/lists/*
# sbom.json: what the image contains, as CycloneDX.
COPY --from=build /app/package.json /app/sbom.json ./
COPY --from=build /app/node_modules node_modules
COPY --from=build /app/dist dist
# What programs read: JSON Schemas of `--json` and of notifications, and the tables.
COPY schemas schemas
# A volume that is mounted here takes its owner over. The link is for kubectl exec.
RUN mkdir /var/lib/enrich && chown node:node /var/lib/enrich && ln -s /app/dist/cli/main.js /usr/local/bin/enrich
USER node
ENTRYPOINT ["node", "--enable-source-maps", "/app/dist/cli/main.js"]
CMD ["--help"]

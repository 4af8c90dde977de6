/**
 * Benchmark of the service client: bulk calls per second and CPU per call, compared with a loop of fetch and
 * JSON.parse.
 *
 * `npm run bench:client [-- --seconds 5]`. The service is a process of its own that sends constant bytes, so
 * that its CPU is not measured. Both loops take turns in one run, with the same number of connections.
 */
import { fork } from 'node:child_process';
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { fileURLToPath } from 'node:url';
import { fetch } from 'undici';
import type { Identity } from '../../src/domain/identity/identity.ts';
import { createServiceClient } from '../../src/service/client.ts';
import { benchOptions } from './command-line.ts';
import { quantile } from './quantile.ts';

const concurrency = 4;
const rounds = 5;

const details: Identity[] = Array.from({ length: 10 }, (_, number) => ({
  email: `person.${number}@nordlys.example`,
  firstName: 'Mira',
  lastName: 'Lindqvist',
}));

interface Measured {
  readonly callsPerSecond: number;
  readonly cpuSecondsPerThousand: number;
}

const role = process.argv[2];
if (role === 'serve') await serve(Number(process.argv[3]));
else await compare(Number(benchOptions('seconds').seconds ?? 3));

async function compare(seconds: number): Promise<void> {
  for (const kilobytes of [6, 60]) {
    const server = fork(fileURLToPath(import.meta.url), ['serve', String(kilobytes * 1_000)]);
    const [port] = (await once(server, 'message')) as [number];
    const baseUrl = `http://127.0.0.1:${port}/api/v1`;
    const client = createServiceClient({
      baseUrl,
      credential: { kind: 'api-key', value: 'bench' },
      callTimeoutSeconds: 30,
      pollPath: '/webhook_result/{request_id}',
    });
    const calls = {
      bare: () => bareCall(`${baseUrl}/people/bulk_match`),
      client: () => client.bulkMatch({ details }),
    };
    const best: Record<keyof typeof calls, Measured[]> = { bare: [], client: [] };
    for (const call of Object.values(calls)) await measure(call, seconds / 3);
    for (let round = 0; round < rounds; round += 1) {
      for (const name of ['bare', 'client'] as const) best[name].push(await measure(calls[name], seconds));
    }
    await client.close();
    server.kill();
    print(kilobytes, best.bare, best.client);
  }
}

async function bareCall(url: string): Promise<unknown> {
  const answer = await fetch(url, {
    method: 'POST',
    headers: { 'content-type': 'application/json', 'x-api-key': 'bench' },
    body: JSON.stringify({ details }),
  });
  return JSON.parse(await answer.text());
}

async function measure(call: () => Promise<unknown>, seconds: number): Promise<Measured> {
  const startedAt = performance.now();
  const cpuBefore = process.cpuUsage();
  let calls = 0;
  const caller = async (): Promise<void> => {
    while (performance.now() - startedAt < seconds * 1_000) {
      await call();
      calls += 1;
    }
  };
  await Promise.all(Array.from({ length: concurrency }, caller));
  const { user, system } = process.cpuUsage(cpuBefore);
  return {
    callsPerSecond: (calls * 1_000) / (performance.now() - startedAt),
    cpuSecondsPerThousand: (user + system) / 1_000 / calls,
  };
}

function print(kilobytes: number, bare: readonly Measured[], client: readonly Measured[]): void {
  const rateOf = (measured: readonly Measured[]): number =>
    quantile(measured.map(({ callsPerSecond }) => callsPerSecond));
  const figures = (measured: readonly Measured[]): string =>
    `${rateOf(measured).toFixed(0).padStart(6)} calls/s  ` +
    `${quantile(measured.map((each) => each.cpuSecondsPerThousand)).toFixed(2)} s CPU per 1,000`;
  // Compares client and bare loop round by round, because the speed of the machine changes between rounds.
  const shares = client.map(({ callsPerSecond }, round) => callsPerSecond / bare[round]!.callsPerSecond);
  const share = (100 * quantile(shares)).toFixed(0);
  process.stdout.write(
    `10 people of ${kilobytes} KB\n  bare fetch  ${figures(bare)}\n` +
      `  client      ${figures(client)}  (${share} % of the bare loop)\n`,
  );
}

async function serve(personBytes: number): Promise<void> {
  const body = Buffer.from(inventedAnswer(personBytes));
  const server = createServer((request, response) => {
    request.resume().on('end', () => {
      response
        .writeHead(200, { 'content-type': 'application/json', 'content-length': body.length })
        .end(body);
    });
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  process.send?.((server.address() as AddressInfo).port);
}

/** Creates an answer in which nine tenths of a person are the organization, mostly lists of words. */
function inventedAnswer(personBytes: number): string {
  const matches = details.map((_, number) => ({
    id: `p${number}`,
    first_name: 'Mira',
    last_name: 'Lindqvist',
    name: 'Mira Lindqvist',
    email: `person.${number}@nordlys.example`,
    email_status: 'verified',
    title: 'Head of Purchasing',
    organization: {
      id: 'o1',
      name: 'Nordlys Robotics',
      keywords: Array.from({ length: personBytes / 26 }, (_unused, word) => `industrial keyword ${word}`),
    },
  }));
  const text = JSON.stringify({ status: 'success', credits_consumed: 10, missing_records: 0, matches });
  return text.replace('{', '{"request_id":-7049823749872398471,');
}

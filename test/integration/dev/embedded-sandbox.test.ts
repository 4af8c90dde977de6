import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { startEmbeddedSandbox } from '../../../src/dev/sandbox.ts';
import { runningRecord, stopServer } from '../../../src/dev/server.ts';
import { createCredentialSource } from '../../../src/service/credential.ts';

let directory: string;

beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), 'enrich-sandbox-'));
});

afterEach(async () => {
  await stopServer(directory);
  rmSync(directory, { recursive: true, force: true });
});

async function start(port = 0) {
  return startEmbeddedSandbox({ directory, port, rateLimits: '600/hour' });
}

type Sandbox = Awaited<ReturnType<typeof start>>;

async function matchOne({ baseUrl, credential }: Sandbox) {
  return fetch(`${baseUrl}/people/bulk_match`, {
    method: 'POST',
    headers: { ...(await createCredentialSource(credential)()), 'content-type': 'application/json' },
    body: JSON.stringify({ details: [{ first_name: 'Ada', last_name: 'Vance', domain: 'example.com' }] }),
  });
}

async function bill({ baseUrl }: Sandbox): Promise<unknown> {
  return (await fetch(new URL('/sandbox/bill', baseUrl))).json();
}

it('the embedded sandbox keeps its port and its bill after a kill', async () => {
  const first = await start();
  await matchOne(first);
  const billed = await bill(first);
  expect(await start()).toEqual(first);
  process.kill(runningRecord(directory)!.pid, 'SIGKILL');
  await expect.poll(() => runningRecord(directory)).toBeUndefined();
  const second = await start();
  expect(second).toEqual(first);
  expect(await bill(second)).toEqual(billed);
});

import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeEach, describe, expect, it } from 'vitest';
import { TestSystem } from '../helpers/system/test-system.ts';
import { expectPromisesKept } from '../helpers/system/promises.ts';

/** By the sandbox's clock; tests move it to either side of the cut-over. */
let clock = Date.now();

const system = await TestSystem.ofFile({
  latency: 20,
  tokenCalls: 3,
  now: () => clock,
  temporalOnDisk: true,
});

beforeEach(() => system.sandbox.faults.set({ rules: [] }));

/** Settings under which the token comes from a command that gets a new one from the sandbox. */
function tokenFromCommand(): Record<string, string> {
  const script = join(system.directory, 'token.mjs');
  const address = JSON.stringify(`${system.sandbox.controlUrl}/token`);
  writeFileSync(
    script,
    `process.stdout.write(await (await fetch(${address}, { method: 'POST' })).text());\n`,
  );
  return {
    ENRICHMENT_API_KEY: '',
    ENRICHMENT_ACCESS_TOKEN_COMMAND: `'${process.execPath}' '${script}'`,
  };
}

const refusedTokens = (): number => system.sandbox.log.bill().otherCalls['401 /people/bulk_match'] ?? 0;

// Only a process of its own shows its log, and once is enough.
describe.each([
  ['before 16 February 2027', Date.UTC(2026, 10, 21), 'hereAlone'],
  ['after 16 February 2027, with error_details alone', Date.UTC(2027, 2, 1), 'enrich'],
] as const)('error payloads %s', (_, time, run) => {
  beforeEach(() => {
    clock = time;
  });

  it('a run continues over access tokens that expire, and writes none of them anywhere', async () => {
    const refusedBefore = refusedTokens();
    await system.stopWorker();
    const ended = await system[run](['run', system.sample(80), '--yes', '--json'], tokenFromCommand());
    expect([ended.code, ended.facts().status]).toEqual([0, 'finished']);
    expect(refusedTokens() - refusedBefore).toBeGreaterThan(1);
    expect(system.sandbox.log.bill().billedAgain).toEqual({});
    const header = Buffer.from('{"alg":"HS256","typ":"JWT"}').toString('base64url');
    for (const text of [ended.stdout, ended.stderr, ...system.temporalFiles()])
      expect(text).not.toContain(header);
    await expectPromisesKept(system);
  });

  it('a person whom the service refuses is rejected alone, and a refusal for the rate is sat out', async () => {
    const file = join(system.directory, `poison-${time}.csv`);
    const people = Array.from(
      { length: 40 },
      (__, index) => `Cara,Poison${index}x,cara${index}@works${time}.example`,
    );
    writeFileSync(file, `first_name,last_name,email\n${people.join('\n')}\n`);
    system.sandbox.faults.set({
      rules: [
        { containing: 'Poison14x', status: 422 },
        { path: '/people/bulk_match', from: 2, to: 3, status: 429, retry_after: '1' },
      ],
    });
    await system.startWorker();
    const ended = await system.here(['run', file, '--yes', '--json']);
    expect(ended.facts()).toMatchObject({ status: 'finished', outcomes: { rejected: 1 } });
    expect(Object.values(ended.facts().outcomes).reduce((total, count) => total + count, 0)).toBe(40);
    expect(system.sandbox.log.bill().billedAgain).toEqual({});
    await expectPromisesKept(system);
  });

  it('a refused credential ends the command before a run is begun', async () => {
    const callsBefore = system.sandbox.log.bill().calls;
    const ended = await system.here(['run', system.sample(20), '--yes'], { ENRICHMENT_API_KEY: 'wrong' });
    expect([ended.code, ended.stdout]).toEqual([2, '']);
    expect(ended.stderr).toContain('the service does not accept the credential');
    expect(system.sandbox.log.bill().calls).toBe(callsBefore);
  });
});

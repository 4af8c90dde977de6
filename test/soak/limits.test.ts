import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { sampleExport } from '../../src/sandbox/sample-export.ts';
import { TestHouse } from '../helpers/command-line.ts';
import { expectPromisesKept } from '../helpers/promises.ts';

/** Over a minute long, because the window is one: `npm run soak:limits`. */
it(
  'a plan smaller than RATE_LIMITS is held, and its next window is used as soon as it opens',
  { timeout: 150_000 },
  async () => {
    const house = await TestHouse.open({ latency: 100, rateLimits: '20/minute' });
    const file = join(house.directory, 'contacts.csv');
    writeFileSync(file, [...sampleExport({ people: 400, seed: 903 })].join(''));
    const started = Date.now();
    const ended = await house.enrich(['run', file, '--yes', '--json'], { RATE_LIMITS: 'unlimited' });
    const { calls, refused } = house.sandbox.log.bill();
    expect(ended.facts()).toMatchObject({ status: 'finished' });
    expect(calls).toBeGreaterThan(20);
    expect(refused).toBe(0);
    expect(house.sandbox.log.busiest(60, '/people/bulk_match')).toBeLessThanOrEqual(20);
    expect(Date.now() - started).toBeLessThan(90_000);
    await expectPromisesKept(house);
    await house.close();
  },
);

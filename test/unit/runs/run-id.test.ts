import { expect, it } from 'vitest';
import { newRunId } from '../../../src/domain/runs/run-id.ts';
import cases from '../../data/runs/run-id.json' with { type: 'json' };

const now = new Date('2026-11-22T00:07:31Z');

it.each(cases.names as [string | null, string, string][])(
  'newRunId() names the source %s and the file %s',
  (source, file, id) => {
    expect(newRunId({ schedule: null, source, file, now, random: '32f8a1' })).toBe(id);
  },
);

it('newRunId() shortens a long file name', () => {
  const id = newRunId({
    schedule: null,
    source: 'hubspot',
    file: `${'contact-'.repeat(20)}.csv`,
    now,
    random: '32f8a1',
  });
  expect(id).toMatch(/^enrich-hubspot-contact-.*-20261122T0007-32f8a1$/);
  expect(id.length).toBeLessThan(100);
});

it('newRunId() names the schedule first', () => {
  const id = newRunId({ schedule: 'nightly', source: 'hubspot', file: 'day2.csv', now, random: '32f8a1' });
  expect(id).toBe('enrich-nightly-hubspot-day2-20261122T0007-32f8a1');
});

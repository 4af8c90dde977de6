import { expect, it } from 'vitest';
import { newRunId } from '../../../src/domain/runs/run-id.ts';

const now = new Date('2026-11-22T00:07:31Z');

it.each([
  ['hubspot', 'day2.csv', 'enrich-hubspot-day2-20261122T0007-32f8a1'],
  ['hubspot', 'hubspot-day2.csv.gz', 'enrich-hubspot-day2-20261122T0007-32f8a1'],
  ['hubspot', 'hubspot.csv', 'enrich-hubspot-20261122T0007-32f8a1'],
  ['generic', 'Kunden März (neu).csv', 'enrich-kunden-marz-neu-20261122T0007-32f8a1'],
  [null, 'crm.contacts', 'enrich-crm-contacts-20261122T0007-32f8a1'],
  [null, '[email].csv', 'enrich-email-20261122T0007-32f8a1'],
  ['salesforce', '名簿.csv', 'enrich-salesforce-20261122T0007-32f8a1'],
  [null, '…', 'enrich-20261122T0007-32f8a1'],
])('newRunId() names the source %s and the file %s', (source, file, id) => {
  expect(newRunId({ schedule: null, source, file, now, random: '32f8a1' })).toBe(id);
});

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

it.each([
  ['hubspot-crm-exports-all-contacts-2026-11-23.csv', 'hubspot-crm-exports-all-contacts-2026-11-23'],
  [`${'contacts-of-'.repeat(8)}region_2026-11-23.csv`, '-2026-11-23'],
  [`${'contacts-of-'.repeat(8)}region20261123.csv.gz`, '20261123'],
  [`${'contacts-'.repeat(8)}20261123T021500Z.csv`, '-20261123t021500z'],
  [`${'contacts-'.repeat(8)}2026-11-23 02:15:00.csv`, '-2026-11-23-02-15-00'],
])('newRunId() keeps the date at the end of the long file name %s', (file, kept) => {
  const id = newRunId({
    schedule: 'nightly-contacts-of-all-regions',
    source: 'hubspot',
    file,
    now,
    random: '32f8a1',
  });
  expect(id).toContain(`${kept}-20261122T0007-32f8a1`);
  expect(id).toMatch(/^[\w-]+$/);
  expect(id).not.toContain('--');
  expect(id.length).toBeLessThan(115);
});

it('newRunId() names the schedule first', () => {
  const id = newRunId({ schedule: 'nightly', source: 'hubspot', file: 'day2.csv', now, random: '32f8a1' });
  expect(id).toBe('enrich-nightly-hubspot-day2-20261122T0007-32f8a1');
});

import { expect, it } from 'vitest';
import { describeSchedule } from '../../../src/cli/schedule/schedule-view.ts';

it('describeSchedule() shows all times in the time zone of the schedule, and names it', () => {
  const text = describeSchedule({
    name: 'nightly',
    paused: false,
    note: null,
    flags: { timezone: 'Europe/Berlin' },
    next: ['2026-11-22T01:00:00.000Z'],
    skipped: 0,
    missed: 0,
    recent: [
      {
        scheduled_at: '2026-11-21T01:00:00.000Z',
        workflow_id: 'nightly-2026-11-21T01:00:00Z',
        status: 'paused',
        summary: 'crm.csv: no credits; next: raise the budget; continues at 2026-11-22T23:00:00.000Z',
        runs: ['enrich-nightly-crm-20261121T0100-32f8a1'],
      },
    ],
    warnings: [],
  });
  expect(text).toContain('next: 2026-11-22 02:00 (Europe/Berlin)');
  expect(text).toContain('last times (Europe/Berlin):\n  2026-11-21 02:00  paused');
  expect(text).toContain('continues at 2026-11-23 00:00 (Europe/Berlin)');
  expect(text).not.toContain('T23:00');
});

import { expect, it } from 'vitest';
import { describeSchedule, type ScheduleFacts } from '../../../src/cli/schedule/schedule-view.ts';

const facts: ScheduleFacts = {
  name: 'nightly',
  paused: false,
  note: null,
  flags: { cron: '0 2 * * *', timezone: 'Europe/Berlin' },
  next: ['2026-11-22T01:00:00.000Z'],
  skipped: 0,
  missed: 0,
  recent: [],
};
const lastTime = (status: string, summary: string): ScheduleFacts['recent'] => [
  { scheduled_at: '2026-11-21T01:00:00Z', workflow_id: 'nightly', status, summary, runs: [] },
];

it('describeSchedule() shows times in the time zone of the schedule, and names the zone', () => {
  const text = describeSchedule({ ...facts, recent: lastTime('paused', 'no credits') });
  expect(text).toMatch(/next +2026-11-22 02:00\n/);
  expect(text).toContain('last times (Europe/Berlin):\n  2026-11-21 02:00  paused: no credits');
  expect(describeSchedule(facts)).toContain('last times (Europe/Berlin): none');
});

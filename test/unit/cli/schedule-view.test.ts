import { expect, it } from 'vitest';
import {
  describeList,
  describeSchedule,
  factsOf,
  type ScheduleFacts,
} from '../../../src/cli/schedule/schedule-view.ts';
import type { Session } from '../../../src/cli/session/session.ts';
import type { KnownSchedule } from '../../../src/cli/schedule/schedule-server.ts';

const facts: ScheduleFacts = {
  name: 'nightly',
  paused: false,
  note: null,
  flags: { timezone: 'UTC' },
  next: [],
  skipped: 0,
  missed: 0,
  recent: [],
  warnings: [],
};

it.each([
  [true, 'CRM migration', 'nightly: paused (CRM migration)'],
  [true, null, 'nightly: paused'],
  [false, 'enrich schedule resume', 'nightly: on'],
])('describeSchedule() shows the note of a paused schedule alone: %s, %s', (paused, note, line) => {
  expect(describeSchedule({ ...facts, paused, note }).split('\n')[0]).toBe(line);
});

it('describeSchedule() shows all times in the time zone of the schedule, and names it', () => {
  const text = describeSchedule({
    ...facts,
    flags: { timezone: 'Europe/Berlin' },
    next: ['2026-11-22T01:00:00.000Z'],
    recent: [
      {
        scheduled_at: '2026-11-21T01:00:00.000Z',
        workflow_id: 'nightly-2026-11-21T01:00:00Z',
        status: 'paused',
        summary: 'crm.csv: no credits; next: raise the budget; continues at 2026-11-22T23:00:00.000Z',
        runs: ['enrich-nightly-crm-20261121T0100-32f8a1'],
      },
    ],
  });
  expect(text).toContain('next: 2026-11-22 02:00 (Europe/Berlin)');
  expect(text).toContain('last times (Europe/Berlin):\n  2026-11-21 02:00  paused');
  expect(text).toContain('continues at 2026-11-23 00:00 (Europe/Berlin)');
  expect(text).not.toContain('T23:00');
});

const work = { export: { kind: 'newest', from: '/exports/*.csv' } };
const schedule = (name: string, state: object, lastTime?: string): KnownSchedule =>
  ({
    definition: { name, cron: '0 2 * * *', timezone: 'UTC', work },
    description: {
      state,
      info: { nextActionTimes: [], recentActions: lastTime ? [{ takenAt: new Date(lastTime) }] : [] },
    },
  }) as unknown as KnownSchedule;

it.each([
  [true, []],
  [false, ['2026-11-22T01:00:00.000Z']],
])('factsOf() lists the next times of a schedule unless it is paused: %s', async (paused, next) => {
  const known = schedule('nightly', { paused });
  known.description.info.nextActionTimes.push(new Date('2026-11-22T01:00:00Z'));
  expect(await factsOf({} as Session, known)).toMatchObject({ paused, next });
});

it('describeList() shows why schedules are paused below the table', () => {
  const list = describeList(
    [
      schedule('nightly', { paused: true, note: 'CRM migration' }),
      schedule('weekly', { paused: false, note: 'enrich schedule resume' }),
    ],
    [facts, { ...facts, name: 'weekly' }],
  );
  expect(list.split('\n').slice(3)).toEqual(['  nightly is paused: CRM migration']);
});

it('describeList() shows that the last time of a schedule failed', () => {
  const scheduled_at = '2026-11-21T02:00:00Z';
  const past = { scheduled_at, workflow_id: 'nightly', status: 'failed', summary: 'no file', runs: [] };
  const list = describeList(
    [schedule('nightly', { paused: false }, scheduled_at)],
    [{ ...facts, recent: [past] }],
  );
  expect(list).toContain('2026-11-21 02:00 failed');
  expect(list).toContain('nightly failed at its last time; why: enrich schedule show nightly');
});

it('describeList() shows scheduled times as describeSchedule() does, and failures before the last time', () => {
  const time = (day: number, status: string): ScheduleFacts['recent'][number] => ({
    scheduled_at: `2026-11-${day}T02:00:00Z`,
    workflow_id: 'nightly',
    status,
    summary: '',
    runs: [],
  });
  const recent = [time(18, 'completed'), time(19, 'failed'), time(20, 'completed')];
  const backfilled = schedule('nightly', { paused: false }, '2026-11-24T10:07:00Z');
  const list = describeList([backfilled], [{ ...facts, recent }]);
  expect(list).toContain('2026-11-20 02:00 completed');
  expect(list).not.toContain('2026-11-24');
  expect(list).toContain('nightly: 1 of its last 3 times failed; why: enrich schedule show nightly');
});

it('describeList() shows what a scheduled time without a worker waits for', () => {
  const scheduled_at = '2026-11-21T02:00:00Z';
  const summary = 'no worker polls: start one with enrich worker';
  const past = { scheduled_at, workflow_id: 'nightly', status: 'waiting', summary, runs: [] };
  const list = describeList(
    [schedule('nightly', { paused: false }, scheduled_at)],
    [{ ...facts, recent: [past] }],
  );
  expect(list).toContain('2026-11-21 02:00 waiting');
  expect(list).toContain(`  nightly waits: ${summary}`);
});

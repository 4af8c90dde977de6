import { expect, it } from 'vitest';
import type { Person } from '../../../src/domain/identity/person.ts';
import type { Channel } from '../../../src/monitoring/notification-channels.ts';
import { Notifier } from '../../../src/monitoring/notifications.ts';
import { notification } from '../../../src/outputs/outputs.ts';
import { rebuild } from '../../../src/people/rebuild.ts';
import { endRun } from '../../../src/runs/finish-run.ts';
import { reconcileContacts } from '../../../src/runs/reconcile-contacts.ts';
import { revertUndo, undoRun } from '../../../src/runs/undo-run.ts';
import { createLogger } from '../../../src/telemetry/log.ts';
import { warehouseOfFile } from '../../helpers/database/database.ts';
import { putOnList } from '../../helpers/warehouse/rows.ts';
import { answerBatch, runningRunOf } from '../../helpers/warehouse/scripted-calls.ts';

const warehouse = await warehouseOfFile({ connections: 4 });
const { signal } = new AbortController();
const log = createLogger({ level: 'silent', format: 'json' });

type Sent = Readonly<Record<string, unknown>>;

/** Two workers at once. Each notification has to fit its schema, which allows no unknown field. */
async function sent(withNames = false): Promise<Sent[]> {
  const messages: Sent[] = [];
  const channel: Channel = {
    name: 'url',
    send: (body) => {
      messages.push(notification.parse(JSON.parse(body)));
      return Promise.resolve();
    },
  };
  const worker = () =>
    new Notifier({ warehouse, channels: [channel], events: ['job_change'], withNames, log }).sendDue();
  await Promise.all([worker(), worker()]);
  return messages;
}

/** A night that asks for a person again, who has this employer. */
async function night(who: string, employer: string, source = 'generic'): Promise<string> {
  const email = `${who}@home.example`;
  const row = { contactId: who, email, keys: [`email:${email}`], firstName: 'Ada', lastName: `Of ${who}` };
  const person: Person = {
    id: `id-${who}`,
    first_name: 'Ada',
    last_name: `Of ${who}`,
    title: `Lead at ${employer}`,
    email: `${who}@${employer}.example`,
    personal_emails: [email],
    organization: { id: `org-${employer}`, name: employer, primary_domain: `${employer}.example` },
  };
  const freshness = { enrichedSeconds: 0, notFoundSeconds: 0 };
  const runId = await runningRunOf(warehouse, [row], { source, freshness });
  await answerBatch(warehouse, { runId }, () => [person]);
  await reconcileContacts(warehouse, runId, signal);
  await endRun(warehouse, runId, 'finished', undefined);
  return runId;
}

it('a job change is sent once, with the contacts and without personal data', async () => {
  await night('ada', 'acme');
  await night('ada', 'acme', 'other');
  expect(await sent()).toEqual([]);
  const runId = await night('ada', 'orbit');
  const contacts = [
    { source: 'generic', contact_id: 'ada' },
    { source: 'other', contact_id: 'ada' },
  ];
  const occurrence = { event_id: expect.stringMatching(/^\d+$/), occurred_at: expect.any(String) };
  expect(await sent()).toEqual([{ event: 'job_change', ...occurrence, run_id: runId, contacts }]);
});

it('a job change is not sent again by a night without a change, a rebuild, an undo or a revert', async () => {
  await night('bo', 'acme');
  const moved = await night('bo', 'orbit');
  expect(await sent()).toHaveLength(1);
  await night('bo', 'orbit');
  await rebuild(warehouse, { check: false, signal });
  await undoRun(warehouse, moved, { by: 'somebody', reason: 'the wrong file' }, signal);
  await revertUndo(warehouse, moved, signal);
  expect(await sent()).toEqual([]);
  await night('bo', 'zenith');
  expect(await sent()).toHaveLength(1);
});

it('a job change has name, titles and employers with NOTIFY_NAMES', async () => {
  await night('cy', 'acme');
  await night('cy', 'orbit');
  expect(await sent(true)).toMatchObject([
    {
      contacts: [{ source: 'generic', contact_id: 'cy' }],
      name: 'Ada Of cy',
      from_title: 'Lead at acme',
      from_organization: 'acme',
      to_title: 'Lead at orbit',
      to_organization: 'orbit',
    },
  ]);
});

it('a job change of an undone run, and of a person who was suppressed meanwhile, is not sent', async () => {
  await night('di', 'acme');
  const undone = await night('di', 'orbit');
  await undoRun(warehouse, undone, { by: 'somebody', reason: 'the wrong file' }, signal);
  await night('ed', 'acme');
  await night('ed', 'orbit');
  await putOnList(warehouse, 'email:ed@home.example');
  expect(await sent()).toEqual([]);
  expect(
    await warehouse.query`select event from notifications where event = 'job_change' and closed_at is null`,
  ) //
    .toEqual([]);
});

it('a job change that a killed worker has sent is sent again under the same id', async () => {
  await night('flo', 'acme');
  await night('flo', 'orbit');
  let body = '';
  const killed: Channel = {
    name: 'url',
    send: (first) => {
      body = first;
      return new Promise(() => {});
    },
  };
  void new Notifier({
    warehouse,
    channels: [killed],
    events: ['job_change'],
    withNames: false,
    log,
  }).sendDue();
  await expect.poll(() => body).not.toBe('');
  expect(await sent()).toEqual([]);
  await warehouse.query`update notifications set next_try_at = now() where closed_at is null`;
  expect(await sent()).toEqual([JSON.parse(body)]);
});

import { expect, it } from 'vitest';
import type { Channel } from '../../../src/monitoring/notification-channels.ts';
import { Notifier } from '../../../src/monitoring/notifications.ts';
import { notification } from '../../../src/outputs/outputs.ts';
import { rebuild } from '../../../src/people/rebuild.ts';
import { revertUndo, undoRun } from '../../../src/runs/undo-run.ts';
import { createLogger } from '../../../src/telemetry/log.ts';
import { warehouseOfFile } from '../../helpers/database/database.ts';
import { addToSuppressionList, testNote, noSignal, neverFresh } from '../../helpers/warehouse/rows.ts';
import { answerBatch, runningRunOf, personOf } from '../../helpers/warehouse/scripted-calls.ts';

const warehouse = await warehouseOfFile({ connections: 4 });
const log = createLogger({ level: 'silent', format: 'json' });

function sendDue(send: Channel['send'], withNames = false): Promise<void> {
  const channels: Channel[] = [{ name: 'url', send }];
  return new Notifier({ warehouse, channels, events: ['job_change'], withNames, log }).sendDue();
}

/** What two workers send at once. Each notification has to fit its schema, which allows no unknown field. */
async function sent(withNames = false): Promise<unknown[]> {
  const messages: unknown[] = [];
  const send = async (body: string) => void messages.push(notification.parse(JSON.parse(body)));
  await Promise.all([sendDue(send, withNames), sendDue(send, withNames)]);
  return messages;
}

/** Plays a nightly run that looks up a person again and finds this employer. */
async function night(who: string, employer: string, source = 'generic'): Promise<string> {
  const email = `${who}@home.example`;
  const row = { contactId: who, email, firstName: 'Ada', lastName: `Of ${who}` };
  const runId = await runningRunOf(warehouse, [row], { source, freshness: neverFresh });
  const person = personOf(row, {
    title: `Lead at ${employer}`,
    email: `${who}@${employer}.example`,
    personal_emails: [email],
    organization: { id: `org-${employer}`, name: employer, primary_domain: `${employer}.example` },
  });
  await answerBatch(warehouse, { runId }, () => [person]);
  await warehouse.query`update runs set status = 'finished', finished_at = now() where run_id = ${runId}`;
  return runId;
}

const undo = (runId: string) => undoRun(warehouse, runId, testNote, noSignal);

it('a job change is notified once with its contacts, not again after a later run, a rebuild or an undo', async () => {
  await night('ada', 'acme');
  await night('ada', 'acme', 'other');
  expect(await sent()).toEqual([]);
  const moved = await night('ada', 'orbit');
  const contacts = ['generic', 'other'].map((source) => ({ source, contact_id: 'ada' }));
  const occurrence = { event_id: expect.stringMatching(/^\d+$/), occurred_at: expect.any(String) };
  expect(await sent()).toEqual([{ event: 'job_change', ...occurrence, run_id: moved, contacts }]);

  await night('ada', 'orbit');
  await rebuild(warehouse, { check: false, signal: noSignal });
  await undo(moved);
  await revertUndo(warehouse, moved, noSignal);
  expect(await sent()).toEqual([]);
  await night('ada', 'zenith');
  const jobs = { from_organization: 'orbit', to_title: 'Lead at zenith', to_organization: 'zenith' };
  expect(await sent(true)).toMatchObject([{ name: 'Ada Of ada', from_title: 'Lead at orbit', ...jobs }]);
});

it('no notification is sent for a job change of an undone run or of a person suppressed since then', async () => {
  for (const who of ['di', 'ed']) await night(who, 'acme');
  await undo(await night('di', 'orbit'));
  await night('ed', 'orbit');
  await addToSuppressionList(warehouse, 'email:ed@home.example');
  expect(await sent()).toEqual([]);
  expect(
    await warehouse.query`select from notifications where event = 'job_change' and closed_at is null`,
  ).toEqual([]);
});

it('a job change that a worker sent just before it was killed is sent again with the same event id', async () => {
  await night('flo', 'acme');
  await night('flo', 'orbit');
  const body = await new Promise<string>((resolve) => {
    void sendDue((first) => {
      resolve(first);
      return new Promise(() => {});
    });
  });
  expect(await sent()).toEqual([]);
  await warehouse.query`update notifications set next_try_at = now() where closed_at is null`;
  expect(await sent()).toEqual([JSON.parse(body)]);
});

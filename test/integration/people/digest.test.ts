import { promisify } from 'node:util';
import { gzip } from 'node:zlib';
import { expect, it } from 'vitest';
import { digest } from '../../../src/people/digest.ts';
import { rebuild } from '../../../src/people/rebuild.ts';
import { prune } from '../../../src/privacy/prune.ts';
import { endRun } from '../../../src/runs/finish-run.ts';
import { warehouseOfFile } from '../../helpers/database/database.ts';
import { answerWith } from '../../helpers/warehouse/answers.ts';
import { callsByHand, somebody, type AdmittedCall } from '../../helpers/warehouse/calls-by-hand.ts';

const warehouse = await warehouseOfFile();
const { callInFlight, record, contact } = callsByHand(warehouse);
const { signal } = new AbortController();

/** As a worker leaves a call that is killed after it has stored the answer: the digest has not begun. */
async function storedOnly({ attemptId }: AdmittedCall, body: Buffer): Promise<void> {
  await warehouse.query`
    update attempts set status = 'settled', http_status = 200, credits_settled = 1, answered_at = now()
    where attempt_id = ${attemptId}`;
  await warehouse.query`insert into raw_answers (attempt_id, body_gzip) values (${attemptId}, ${body})`;
  await warehouse.query`insert into digest_queue (kind, owner) values ('answer', ${attemptId})`;
}

const bodyOf = (...matches: Parameters<typeof answerWith>[0]) => promisify(gzip)(answerWith(matches).raw);

async function rowOf({ runId }: AdmittedCall): Promise<unknown> {
  const [row] = await warehouse.query`select outcome, reason from run_rows where run_id = ${runId}`;
  return row;
}

it('the next digest decides about an answer whose worker was killed after storing it', async () => {
  const { row, person } = somebody();
  const call = await callInFlight([row]);
  await storedOnly(call, await bodyOf(person));
  await digest(warehouse);
  expect(await rowOf(call)).toEqual({ outcome: 'enriched', reason: null });
  expect(await contact(row.contactId!)).toMatchObject({ person_id: person.id });
});

it('an answer that cannot be digested is set aside alone, keeps its bytes, and a rebuild tries it again', async () => {
  const [broken, sound] = [somebody(), somebody()];
  const call = await callInFlight([broken.row]);
  await storedOnly(call, Buffer.from('no gzip'));
  await record(await callInFlight([sound.row]), answerWith([sound.person]));
  expect(await contact(sound.row.contactId!)).toMatchObject({ person_id: sound.person.id });
  expect(await rowOf(call)).toEqual({
    outcome: 'unknown',
    reason: `the answer of attempt ${call.attemptId} is stored and cannot be digested`,
  });
  await endRun(warehouse, call.runId, 'finished', undefined);
  await prune(warehouse, { answers: 0 }, signal);
  expect(await warehouse.query`select 1 from raw_answers where attempt_id = ${call.attemptId}`).toHaveLength(
    1,
  );
  await warehouse.query`
    update raw_answers set body_gzip = ${await bodyOf(broken.person)} where attempt_id = ${call.attemptId}`;
  await rebuild(warehouse, { check: false, signal });
  expect(await rowOf(call)).toMatchObject({ outcome: 'enriched' });
  expect(await contact(broken.row.contactId!)).toMatchObject({ person_id: broken.person.id });
});

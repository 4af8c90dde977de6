import { describe, expect, it } from 'vitest';
import { endRun } from '../../../src/runs/finish-run.ts';
import { warehouseOfFile } from '../../helpers/database/database.ts';
import { callWithPhones, recordPhonesAnswer, deliveredCall } from '../../helpers/warehouse/late-calls.ts';
import { job, match, say, titled } from '../../helpers/warehouse/write-facts.ts';
import { stagedRun } from '../../helpers/warehouse/rows.ts';

const acme = { id: 'o-acme', name: 'Acme', domain: 'acme.example' };
const orbit = { id: 'o-orbit', name: 'Orbit', domain: 'orbit.example' };
const warehouse = await warehouseOfFile();

async function ask(question: string, ...values: unknown[]): Promise<Record<string, unknown>[]> {
  const { rows } = await warehouse.pool.query<Record<string, unknown>>(question, values);
  return rows;
}

async function finishedRun(): Promise<string> {
  const { runId } = await stagedRun(warehouse, []);
  await endRun(warehouse, runId, 'finished', undefined);
  return runId;
}

/** A contact of hubspot whose answer was recorded on a day. */
async function contact(person: string, at: string, facts: Record<string, unknown>, runId = 'run-1') {
  await say(warehouse, {
    person,
    askedAt: at,
    runId,
    facts,
    ...(facts['organization_name'] !== undefined && { organizationKey: `id:${person}` }),
  });
  await match(warehouse, { contactId: person, person, at, runId });
}

describe('the views for the questions of docs/warehouse.md', () => {
  it('job_changes_of_last_run names the people and contacts of moves that the newest run detected', async () => {
    const [first, last] = [await finishedRun(), await finishedRun()];
    for (const [person, runId] of [
      ['early', first],
      ['mover', last],
    ] as const) {
      await contact(person, '2025-01-01', job('Analyst', acme, { startedOn: '2020-01-01' }));
      await contact(person, '2026-01-01', job('Lead', orbit, { startedOn: '2025-06-01' }), runId);
    }
    const named = { first_name: { first_name: 'Ada', last_name: 'Novak' } };
    await contact('mover', '2026-01-01', named, last);
    const moves = await ask('select * from job_changes_of_last_run');
    expect(moves).toMatchObject([
      {
        first_name: 'Ada',
        last_name: 'Novak',
        contact_ids: ['hubspot/mover'],
        person_id: 'mover',
        from_organization: 'Acme',
        to_organization: 'Orbit',
        to_title: 'Lead',
        run_id: last,
      },
    ]);
    expect(await ask('select from job_changes')).toHaveLength(2);
  });

  it('contact_phones says which delivery brought a phone and when, and run_costs what each phone cost', async () => {
    const call = await deliveredCall(warehouse);
    const phones = await ask('select * from contact_phones where run_id = $1 order by number', call.runId);
    expect(phones).toHaveLength(3);
    expect(phones[0]).toMatchObject({ number: '+14155550100', is_first: true, attempt_id: call.attemptId });
    expect(phones[0]!['delivery_id']).not.toBeNull();
    expect(await ask('select * from run_costs where run_id = $1', call.runId)).toMatchObject([
      { credits_settled: '27.000000', people: 3, emails: 3, verified_emails: 0, phones: 3 },
    ]);
    const [costs] = await ask('select * from run_costs where run_id = $1', call.runId);
    expect(costs).toMatchObject({ email_credits: '3.000000', phone_credits: '24.000000' });
    expect(costs!['credits_per_phone']).toBe('8.000000');
    expect(costs!['credits_per_verified_email']).toBeNull();
  });

  it('contact_phones says when a phone came first and when it came last', async () => {
    const facts = { phones: [{ number: '+14155550177', type: 'mobile' }] };
    await contact('confirmed', '2026-01-01', facts);
    await contact('confirmed', '2026-02-01', facts);
    await contact('confirmed', '2026-03-01', { title: { title: 'Lead' } });
    const [phone] = await ask(`select * from contact_phones where number = '+14155550177'`);
    const [first, last] = await ask(
      `select recorded_at from observation_log where facts ? 'phones' and person_id = 'confirmed' order by 1`,
    );
    expect(phone).toMatchObject({
      first_recorded_at: first!['recorded_at'],
      recorded_at: last!['recorded_at'],
    });
    expect(first).not.toEqual(last);
  });

  it('run_costs counts what calls found for contacts, and no person who is no contact', async () => {
    const runId = await finishedRun();
    const facts = { email: { email: 'ada@orbit.example', email_status: 'Verified' } };
    await contact('reached', '2026-01-01', facts, runId);
    await say(warehouse, { person: 'mismatched', askedAt: '2026-01-01', runId, facts });
    expect(await ask('select * from run_costs where run_id = $1', runId)).toMatchObject([
      { people: 1, emails: 1, verified_emails: 1, phones: 0 },
    ]);
  });

  it('calls_without_data has calls that were billed and enriched no row', async () => {
    const [paid, found] = [await callWithPhones(warehouse), await callWithPhones(warehouse)];
    await recordPhonesAnswer(warehouse, paid, [0, 0, 0], 2);
    await recordPhonesAnswer(warehouse, found);
    expect(await ask('select attempt_id, status, credits_answered from calls_without_data')).toEqual([
      { attempt_id: paid.attemptId, status: 'awaiting', credits_answered: '2.000000' },
    ]);
  });

  it('row_results says of each row whether its contact has lost its person, also a row without a call', async () => {
    const { runId } = await stagedRun(warehouse, [
      { keys: [], contactId: 'keeps' },
      { keys: [], contactId: 'loses' },
      { keys: [], contactId: 'filled' },
      { keys: [], contactId: 'never' },
    ]);
    await warehouse.query`update runs set source = 'hubspot' where run_id = ${runId}`;
    for (const contactId of ['keeps', 'loses', 'filled', 'never'])
      await contact(contactId, '2026-01-01', titled('Lead'), runId);
    await warehouse.query`
      update run_rows set outcome = case contact_id when 'filled' then 'fresh' when 'never' then 'not_found'
        else 'enriched' end, filled = contact_id = 'filled',
        reason = case contact_id when 'filled' then 'asked recently; filled without a call' end
      where run_id = ${runId}`;
    for (const contactId of ['loses', 'filled', 'never'])
      await match(warehouse, { contactId, person: null, at: '2026-02-01', runId });
    expect(
      await ask('select contact_id, reason from row_results where run_id = $1 order by row_number', runId),
    ).toEqual([
      { contact_id: 'keeps', reason: null },
      { contact_id: 'loses', reason: expect.stringMatching(/^the contact lost its person: ./) as string },
      {
        contact_id: 'filled',
        reason: expect.stringMatching(
          /^asked recently; filled without a call; the contact lost its person: ./,
        ) as string,
      },
      { contact_id: 'never', reason: null },
    ]);
  });

  it('changes_of_last_day has one row for each contact, with its last operation and all changed groups', async () => {
    await contact('changing', '2026-01-01', titled('Analyst'));
    await say(warehouse, {
      person: 'changing',
      askedAt: '2026-02-01',
      runId: 'run-1',
      facts: { city: { city: 'Bonn' } },
    });
    await match(warehouse, { contactId: 'changing', person: null, at: '2026-03-01', runId: 'run-1' });
    expect(
      await ask(`select operation, field_groups from changes_of_last_day where contact_id = 'changing'`),
    ).toEqual([{ operation: 'delete', field_groups: ['city', 'person_id', 'title'] }]);
  });

  it('coverage_by_segment counts values by source, country, industry and seniority', async () => {
    await contact('north', '2026-01-01', { city: { country: 'Norway' }, title: { title: 'Lead' } });
    await contact('south', '2026-01-01', { city: { country: 'Norway' } });
    expect(await ask(`select * from coverage_by_segment where segment_value = 'Norway'`)).toMatchObject([
      { source: 'hubspot', segment: 'country', contacts: '2', titles: '1', emails: '0' },
    ]);
  });

  it('value_changes_of_last_day has the value before and after each change', async () => {
    const yesterday = new Date(Date.now() - 86_400_000 * 3).toISOString();
    const today = new Date(Date.now() - 3_600_000).toISOString();
    await contact('promoted', yesterday, titled('Analyst'));
    await contact('promoted', today, titled('Lead'));
    expect(
      await ask(`
        select field_group, old_value, new_value from value_changes_of_last_day where contact_id = 'promoted'`),
    ).toEqual([{ field_group: 'title', old_value: { title: 'Analyst' }, new_value: { title: 'Lead' } }]);
  });

  it('contact_as_of() gives the contact as it was at a time, and no row before it was known', async () => {
    await contact('dated', '2026-01-01', job('Analyst', acme));
    await contact('dated', '2026-03-01', job('Lead', orbit));
    const at = (moment: string) => ask(`select * from contact_as_of('hubspot', 'dated', $1)`, moment);
    expect(await at('2025-12-31')).toEqual([]);
    expect(await at('2026-02-01')).toMatchObject([
      { source: 'hubspot', contact_id: 'dated', title: 'Analyst', organization_name: 'Acme' },
    ]);
    expect(await at('infinity')).toEqual(
      await ask(`select * from enriched_contacts where source = 'hubspot' and contact_id = 'dated'`),
    );
  });

  it('duplicate_contacts lists the contacts that are one person', async () => {
    await contact('twin', '2026-01-01', { first_name: { first_name: 'Ada', last_name: 'Novak' } });
    await match(warehouse, { contactId: 'twin-2', person: 'twin', at: '2026-01-01', runId: 'run-1' });
    expect(await ask('select * from duplicate_contacts')).toMatchObject([
      { last_name: 'Novak', contacts: '2', contact_ids: ['hubspot/twin', 'hubspot/twin-2'] },
    ]);
  });
});

import { expect, it } from 'vitest';
import type { Person } from '../../../src/domain/identity/person.ts';
import { openPage } from '../../../src/runs/pages/pages.ts';
import { planRows } from '../../../src/runs/planning/plan-rows.ts';
import { warehouseOfFile } from '../../helpers/database/database.ts';
import { appendContact } from '../../helpers/warehouse/append-contact.ts';
import { putOnList } from '../../helpers/warehouse/put-on-list.ts';
import { asked, outcomesOf, stagedRun, type StagedRow } from '../../helpers/warehouse/rows.ts';

const warehouse = await warehouseOfFile();
let people = 0;

/** A person whom the service has given another id, and a row that only the new address identifies. */
async function renumbered(): Promise<{
  readonly row: StagedRow;
  readonly contactId: string;
  readonly former: Person;
  readonly domain: string;
}> {
  people += 1;
  const contactId = `contact-${people}`;
  const domain = `former-${people}.example`;
  const email = `ada${people}@present.example`;
  const former = {
    id: `former-${people}`,
    first_name: 'Ada',
    last_name: 'Novak',
    email: `ada@${domain}`,
    organization: { name: `Former ${people}`, primary_domain: domain },
  };
  const newest = {
    ...former,
    id: `newest-${people}`,
    email,
    organization: { name: 'Present', primary_domain: 'present.example' },
  };
  await appendContact(warehouse, { contactId, runId: 'former', person: former });
  const askedAt = '2026-11-21T08:00:00Z';
  await appendContact(warehouse, { contactId, runId: 'newest', person: newest, askedAt });
  await warehouse.pool.query('update contacts set person_keys = $2 where contact_id = $1', [
    contactId,
    [`person:${former.id}`, `person:${newest.id}`],
  ]);
  const row = {
    keys: [`email:${email}`],
    email,
    firstName: 'Ada',
    lastName: 'Novak',
    contactId: `other-${people}`,
  };
  return { row, contactId, former, domain };
}

/** The outcome of a row in a run that has opened its page; null: the run would ask for the row. */
async function opened(row: StagedRow): Promise<(string | null)[]> {
  const run = await stagedRun(warehouse, [row]);
  await planRows(warehouse, run.runId, asked);
  await openPage(warehouse, run.runId, 1, asked);
  return outcomesOf(warehouse, run.runId);
}

it.each([
  ['id', ({ id }: Person) => `person:${id}`],
  ['address', ({ email }: Person) => `email:${email}`],
])(
  'a run does not ask for a row of a person with another id if the former %s is listed',
  async (_, keyOf) => {
    const { row, former } = await renumbered();
    await putOnList(warehouse, keyOf(former));
    expect(await opened(row)).toEqual(['suppressed']);
  },
);

it.each(['another contact', 'the contact'])(
  'a run asks for %s of a person with another id if only the former employer is at a listed domain',
  async (which) => {
    const { row, contactId, domain } = await renumbered();
    await putOnList(warehouse, `domain:${domain}`);
    const asking = which === 'the contact' ? { ...row, contactId } : row;
    expect(await opened(asking)).toEqual([null]);
  },
);

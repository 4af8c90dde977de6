import { expect, it } from 'vitest';
import type { Person } from '../../../src/domain/identity/person.ts';
import { removeSuppressions } from '../../../src/suppression/suppression-list.ts';
import { openPage } from '../../../src/runs/pages.ts';
import { appendContact } from '../../helpers/warehouse/write-facts.ts';
import { warehouseOfFile } from '../../helpers/database/database.ts';
import { readAllTablesAsText } from '../../helpers/database/contents.ts';
import {
  addToSuppressionList,
  testLookupRequest,
  outcomesOf,
  type StagedRow,
} from '../../helpers/warehouse/rows.ts';
import {
  answerBatch,
  runningRunOf,
  personOf,
  playRun,
  openedOutcomes,
} from '../../helpers/warehouse/scripted-calls.ts';

const warehouse = await warehouseOfFile({ keepsPlans: true });
let people = 0;

/** A row with a profile, and the person at a domain whom the service returns for it. */
function employee(domain: string) {
  people += 1;
  const lastName = `Novak${'abcdefghijklmnopqrstuvw'[people]!}`;
  const profileUrl = `linkedin.com/in/ada-${lastName.toLowerCase()}`;
  const row = { profileUrl, firstName: 'Ada', lastName, contactId: `p-${people}` };
  const person = personOf(row, {
    id: `P-${people}`,
    proflink_url: profileUrl,
    email: `ada.${lastName}@${domain}`.toLowerCase(),
    organization: { name: `Orbit ${people}`, primary_domain: domain },
  });
  return { row, person };
}

/** Plays a run of one row whose call returns a person. @returns the outcome of the row */
const runOf = async (row: StagedRow, person: Person): Promise<(string | null)[]> =>
  outcomesOf(warehouse, await playRun(warehouse, [row], [person]));

const opened = (...rows: readonly StagedRow[]) => openedOutcomes(warehouse, rows);

it('a row stays suppressed in later runs after a suppressed answer, until the entry is removed', async () => {
  const { row, person } = employee('listed-one.example');
  await addToSuppressionList(warehouse, 'domain:listed-one.example');
  expect(await runOf(row, person)).toEqual(['suppressed']);
  expect(await opened({ ...row, contactId: 'elsewhere' })).toEqual(['suppressed']);
  await removeSuppressions(warehouse, ['domain:listed-one.example']);
  expect(await opened(row)).toEqual([null]);
});

it.each([
  ['the employer', { email: null }],
  ['the e-mail', { organization: null }],
])('a row is suppressed if %s in an earlier answer belongs to a suppressed domain', async (_, without) => {
  const domain = `listed-${people}.example`;
  const { row, person } = employee(`eu.${domain}`);
  await appendContact(warehouse, {
    contactId: row.contactId,
    runId: 'gone',
    person: { ...person, ...without },
  });
  await addToSuppressionList(warehouse, `domain:${domain}`);
  expect(await opened(row, employee('other.example').row)).toEqual(['suppressed', null]);
});

/** The outcomes and last names that a planned run keeps of its rows. */
async function keptOf(...rows: readonly StagedRow[]): Promise<readonly object[]> {
  const runId = await runningRunOf(warehouse, rows);
  return warehouse.query<object>`
    select outcome, last_name as name from run_rows where run_id = ${runId} order by row_number`;
}

it('fresh rows and duplicates are suppressed if the e-mail in an earlier answer is suppressed', async () => {
  const [listed, other] = [employee('fresh.example'), employee('fresh.example')];
  for (const { row, person } of [listed, other])
    expect(await runOf({ ...row, contactId: `first-${row.contactId}` }, person)).toEqual(['enriched']);
  await addToSuppressionList(warehouse, `email:${listed.person.email}`);
  const rows = [listed.row, { ...listed.row, contactId: 'again' }, other.row];
  expect(await keptOf(...rows)).toEqual([
    { outcome: 'suppressed', name: null },
    { outcome: 'suppressed', name: null },
    { outcome: 'fresh', name: other.row.lastName },
  ]);
});

it('a contact keeps its person if its fresh row is suppressed by the e-mail in an earlier answer', async () => {
  const { row, person } = employee('of-contact.example');
  expect(await runOf(row, person)).toEqual(['enriched']);
  await addToSuppressionList(warehouse, `email:${person.email}`);
  expect(await keptOf(row)).toEqual([{ outcome: 'suppressed', name: null }]);
  expect(await keptOf(row)).toEqual([{ outcome: 'suppressed', name: null }]);
  const rows = await warehouse.query`select 1 from enriched_contacts where person_id = ${person.id}`;
  expect(rows).toHaveLength(1);
});

it.each(['an answer', 'the suppression list'])(
  'a row suppressed by %s loses its cells, also if its contact had another person before',
  async (suppressedBy) => {
    const [former, listed] = [employee('cells.example'), employee('cells.example')];
    const contactId = `cells-${former.row.contactId}`;
    expect(await runOf({ ...former.row, contactId }, former.person)).toEqual(['enriched']);
    const runId = await runningRunOf(warehouse, [{ ...listed.row, contactId }]);
    const isByAnswer = suppressedBy === 'an answer';
    await addToSuppressionList(
      warehouse,
      isByAnswer ? `person:${listed.person.id}` : `profile:${listed.row.profileUrl}`,
    );
    await openPage(warehouse, runId, 1, testLookupRequest);
    if (isByAnswer) await answerBatch(warehouse, { runId }, () => [listed.person]);
    expect(await outcomesOf(warehouse, runId)).toEqual(['suppressed']);
    expect(await readAllTablesAsText(warehouse)).not.toContain(listed.row.lastName);
  },
);

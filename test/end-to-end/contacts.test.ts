import { copyFileSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { json } from 'node:stream/consumers';
import { join } from 'node:path';
import Papa from 'papaparse';
import { expect, it, onTestFinished } from 'vitest';
import type { ImportManifest } from '../../src/export/crm-import/import-manifest.ts';
import { listenHere } from '../helpers/servers/ports.ts';
import { TestSystem, type EndedCommand } from '../helpers/system/test-system.ts';
import { expectPromisesKept } from '../helpers/system/promises.ts';

/** Tests of the commands for enriched contacts: export, erase and suppress. */
const system = await TestSystem.ofFile({ latency: 20, worker: true });

type Row = Record<string, string>;

function readRows(file: string): Row[] {
  return Papa.parse<Row>(readFileSync(file, 'utf8'), { header: true, skipEmptyLines: true }).data;
}

/** Writes an export of another day with the same people. */
function again(rows: readonly Row[], name: string): string {
  const file = join(system.directory, name);
  writeFileSync(file, Papa.unparse(rows.map((row) => ({ ...row, 'Contact owner': name }))));
  return file;
}

/** Returns the e-mail of an enriched person of a run. */
async function enrichedEmail(runId: string): Promise<string> {
  const rows = await system.warehouse.query<{ email: string }>`
    select r.email from run_rows r join enriched_contacts c on c.run_id = r.run_id and c.row_number = r.row_number
    where r.run_id = ${runId} and r.email is not null order by r.row_number limit 1`;
  return rows[0]!.email;
}

it("enrich erase shows a person's data, removes it after approval, and no later export restores it", async () => {
  const file = system.sample(40);
  const first = (await system.here(['run', file, '--yes', '--json'])).facts();
  const email = await enrichedEmail(first.run_id);

  const shown = await system.here(['erase', email, '--json']);
  expect(shown.code).toBe(3);
  expect(JSON.parse(shown.stdout)).toMatchObject({ erased: false, contacts: 1, rows: 1, answers: 1 });
  const erased = await system.here(['erase', email, '--yes', '--json', '--reason', 'ticket 17']);
  expect(JSON.parse(erased.stdout)).toMatchObject({
    erased: true,
    found: true,
    contacts: 1,
    rows: 1,
    answers: 1,
  });
  const repeated = await system.here(['erase', email, '--yes']);
  expect(repeated).toMatchObject({
    code: 0,
    stderr: expect.stringMatching(/the warehouse has nothing of this person[^]*on the suppression list/),
  });
  const unknown = await system.here(['erase', 'nova@unseen.example', '--yes', '--json']);
  expect(JSON.parse(unknown.stdout)).toMatchObject({ erased: true, found: false, contacts: 0 });

  const theirs = readRows(file).filter((row) => row['Email']!.toLowerCase() === email);
  const later = await system.here(['run', again(theirs, 'later.csv'), '--yes', '--json']);
  expect(later.facts()).toMatchObject({
    status: 'finished',
    calls: 0,
    outcomes: { suppressed: theirs.length },
  });
  const report = await system.here(['report', first.run_id, '--format', 'json']);
  expect(report.code).toBe(0);
  await expectPromisesKept(system);
});

it('an e-mail address in a file name does not reach Temporal', async () => {
  const file = join(system.directory, 'ada.novak@orbit.example.csv');
  copyFileSync(system.sample(3), file);
  const ended = await system.here(['run', file, '--yes', '--json']);
  expect(ended.facts()).toMatchObject({ status: 'finished', file: 'ada.novak@orbit.example.csv' });
  const history = await system.storedHistory(ended.facts().run_id);
  const payloads = [...history.matchAll(/"data":"([^"]*)"/g)].map(([, data]) =>
    Buffer.from(data!, 'base64').toString(),
  );
  expect(payloads.filter((payload) => payload.includes('[email]')).length).toBeGreaterThan(1);
  expect(payloads.filter((payload) => payload.includes('novak'))).toEqual([]);
});

it('enrich export writes the contacts of a run as CSV, readable by this user only', async () => {
  const run = (await system.here(['run', system.sample(30), '--yes', '--json'])).facts();
  const output = join(system.directory, 'contacts-out.csv');
  const ended = await system.here(['export', '--run', run.run_id, '--output', output]);
  expect(ended).toMatchObject({ code: 0, stdout: '' });
  expect(readRows(output)).toHaveLength(run.outcomes.enriched!);
  expect(statSync(output).mode & 0o777).toBe(0o600);
  const printed = await system.here(['export', '--run', run.run_id]);
  expect(printed.stdout).toBe(readFileSync(output, 'utf8'));
  expect(await system.here(['export', '--run', 'latest', '--output', output])).toMatchObject({ code: 0 });
  const file = system.sample(30);
  const content = readFileSync(file, 'utf8');
  expect(await system.here(['export', '--output', file])).toMatchObject({
    code: 2,
    stderr: expect.stringContaining('the file exists'),
  });
  expect(readFileSync(file, 'utf8')).toBe(content);
});

const check = (who: string): Promise<EndedCommand> => system.here(['suppress', 'list', who]);

it('enrich suppress keeps people out of calls until they are removed from the list', async () => {
  expect((await check('ada@orbit.example')).code).toBe(0);
  expect((await system.here(['suppress', 'add', 'Ada@Orbit.example', '@acme.example'])).stdout).toMatch(
    /^ {2}added +2\n/,
  );
  expect((await check('ada@orbit.example')).code).toBe(3);
  const held = await check('bo@eu.acme.example');
  expect(held).toMatchObject({
    code: 3,
    stdout: expect.stringMatching(/: on the list\n.*\n.* acme\.example /),
  });
  const file = join(system.directory, 'listed.csv');
  writeFileSync(file, 'Email\nada@orbit.example\nbo@acme.example\n');
  expect((await system.here(['run', file, '--yes', '--json'])).facts()).toMatchObject({
    calls: 0,
    outcomes: { suppressed: 2 },
  });
  const matched = await system.here(['match', '--email', 'ada@orbit.example', '--yes', '--json']);
  expect(matched).toMatchObject({ code: 2, stderr: expect.stringContaining('on the suppression list') });
  await system.here(['suppress', 'remove', 'ada@orbit.example', '@acme.example', '--yes']);
  expect((await check('ada@orbit.example')).code).toBe(0);
});

const germanHeaders = {
  'Record ID': 'Datensatz-ID',
  'First Name': 'Vorname',
  'Last Name': 'Nachname',
  Email: 'E-Mail',
  'Job Title': 'Jobtitel',
};

async function exportFor(...flags: readonly string[]): Promise<ImportManifest> {
  const ended = await system.here(['export', '--for', 'hubspot', '--json', ...flags]);
  expect(ended).toMatchObject({ code: 0 });
  return JSON.parse(ended.stdout) as ImportManifest;
}

it('enrich export --for hubspot uses the German headers of the export; a repeat gives the same files', async () => {
  const file = system.sample(20);
  const german = Object.entries(germanHeaders).reduce(
    (text, [label, local]) => text.replace(label, local),
    readFileSync(file, 'utf8'),
  );
  writeFileSync(file, german);
  const run = (await system.here(['run', file, '--yes', '--json'])).facts();
  const folder = join(system.directory, 'again');
  const first = await exportFor('--run', run.run_id, '--output', folder);
  const second = await exportFor('--run', run.run_id, '--output', folder);
  expect(second).toEqual(first);
  const columns = new Set(second.parts.flatMap((part) => part.columns));
  expect(columns).toContain('Datensatz-ID');
  expect(columns).toContain('Jobtitel');
  expect(Object.keys(germanHeaders).filter((label) => columns.has(label))).toEqual([]);
  const repeated = await system.here(['export', '--for', 'hubspot', '--run', run.run_id, '--output', folder]);
  expect(repeated.stderr).toMatch(/^replaced \d files of an earlier export in /);
  const rest = await exportFor('--since', second.cursor ?? '', '--output', join(system.directory, 'rest'));
  expect(rest.contacts).toBe(0);
  const zoho = join(system.directory, 'zoho');
  // The run has another source than Zoho.
  expect(await system.here(['export', '--for', 'zoho', '--run', run.run_id, '--output', zoho])).toMatchObject(
    {
      code: 0,
      stderr: expect.stringContaining('nothing to import: source "zoho"'),
    },
  );
});

it('enrich export --for hubspot refuses unsuitable files, S3, unknown policies and unknown importers', async () => {
  const folder = system.directory;
  writeFileSync(join(folder, 'mine.txt'), 'mine');
  for (const [flags, where] of [
    [['--for', 'hubspot', '--output', folder], 'has files that enrich export did not write'],
    [['--for', 'hubspot', '--output', join(folder, 'x'), '--policy', 'title=always'], 'is not a policy'],
    [['--for', 'outlook', '--output', join(folder, 'x')], 'no importer'],
    [['--for', 'hubspot'], '--output'],
    [['--for', 'hubspot', '--output', 's3://lake/import'], 'a folder of this machine'],
    [['--policy', 'title=fill', '--output', join(folder, 'x.csv')], 'add the importer'],
  ] as const) {
    expect(await system.here(['export', ...flags])).toMatchObject({
      code: 2,
      stderr: expect.stringContaining(where),
    });
  }
  expect(readFileSync(join(folder, 'mine.txt'), 'utf8')).toBe('mine');
});

it('a job change is posted once to Slack by the example, and a night without a change posts nothing', async () => {
  const texts: string[] = [];
  const slack = createServer((request, response) => {
    void json(request).then((body) => response.end(String(texts.push((body as { text: string }).text))));
  });
  await listenHere(slack);
  onTestFinished(() => void slack.close());
  const url = `http://127.0.0.1:${(slack.address() as AddressInfo).port}`;
  const example = join(import.meta.dirname, '../../examples/slack/notify.mjs');
  const command = `SLACK_WEBHOOK_URL=${url} node '${example}'`;
  await system.startWorker({ NOTIFY_COMMAND: command, NOTIFY_ON: 'job_change' });
  const rows = readRows(system.sample(10));
  for (const night of ['first', 'second', 'third']) {
    const body = JSON.stringify({ rules: night === 'first' ? [] : [{ job_changes: 1 }] });
    const scenario = new URL('/sandbox/scenario', system.sandbox.baseUrl);
    await fetch(scenario, { method: 'PUT', headers: { 'content-type': 'application/json' }, body });
    const run = await system.here(['run', again(rows, night), '--yes', '--json', '--freshness', '0s']);
    expect(run.facts()).toMatchObject({ status: 'finished', calls: 1 });
    const expected = await system.warehouse.query<{ text: string }>`
      select 'A contact changed employer: ' || source || ' ' || contact_id as text
      from job_changes join contacts using (service, person_key) order by text`;
    expect(expected.length > 1).toBe(night !== 'first');
    await expect.poll(() => texts.toSorted(), { timeout: 20_000 }).toEqual(expected.map((each) => each.text));
  }
  // Sends the notifications that are due.
  const posted = texts.length;
  await system.startWorker();
  expect(texts).toHaveLength(posted);
  await expectPromisesKept(system);
});

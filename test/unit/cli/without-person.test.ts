import { expect, it } from 'vitest';
import { exportAddressOf } from '../../../src/cli/run/run-spec.ts';
import { chosenOptions } from '../../../src/cli/run/run-option-flags.ts';
import { defineSchedule } from '../../../src/cli/schedule/schedule-definition.ts';
import { Command, requireNoPersonalData } from '../../../src/cli/terminal/command.ts';
import { refusePersonalColumns } from '../../../src/ingest/columns/chosen-column.ts';
import { exportFiles } from '../../helpers/exports/export-file.ts';
import cases from '../../data/cli/without-person.json' with { type: 'json' };

const file = exportFiles();
const refusal = { what: 'this text', where: '--text', next: 'write another' };

it.each(cases.refusedTexts)('requireNoPersonalData() refuses a text with %s', (_, text) => {
  expect(() => requireNoPersonalData(text, refusal)).toThrow('this text seems to name a person');
});

it.each([
  "select * from crm.contacts where stage = 'lead' order by id",
  "select * from crm.contacts where email like '%@orbit.example'",
  "select a.email, b.in/2 from crm.a join crm.b on a.id=b.id where updated_at > now() - interval '1 day'",
  'ticket 17',
])('requireNoPersonalData() returns %s unchanged', (text) => {
  expect(requireNoPersonalData(text, refusal)).toBe(text);
});

it('enrich run refuses --query with an e-mail before it reads a row', () => {
  const query = "select * from crm.contacts where email = 'ada@orbit.example'";
  expect(() => exportAddressOf(undefined, { query })).toThrow(
    expect.objectContaining({
      type: 'setting.invalid',
      message: 'this query seems to name a person',
      where: '--query',
      next: expect.stringContaining('a view or a table') as string,
      exitCode: 2,
    }),
  );
});

it('keepNote() refuses a reason with an e-mail', () => {
  const command = new Command('undo').keepNote('kept').exitOverride();
  expect(command.parse(['--reason', 'ticket 17'], { from: 'user' }).opts()).toEqual({ reason: 'ticket 17' });
  expect(() => command.parse(['--reason', 'ada@orbit.example asked'], { from: 'user' })).toThrow(
    'this reason seems to name a person',
  );
});

it('chosenOptions() refuses a mapping file with an e-mail', async () => {
  const path = file('columns: {email: ada@orbit.example}', 'mapping.yaml');
  await expect(chosenOptions({ mapping: path })).rejects.toMatchObject({
    type: 'setting.invalid',
    where: path,
  });
});

const columns = {
  header: ['Record ID', 'Nachname', 'Company', 'Stage'],
  mapping: { 'Record ID': 'contact_id', Nachname: 'last_name', Company: 'organization_name' },
};

it.each(cases.personalColumns as [string, boolean][])(
  'refusePersonalColumns() says whether --only "%s" contains personal data: %s',
  async (text, isRefused) => {
    const { only } = await chosenOptions({ only: [text] });
    const check = (): void => refusePersonalColumns(only, columns);
    if (isRefused) expect(check).toThrow('this condition seems to name a person');
    else expect(check).not.toThrow();
  },
);

it.each(['Last Name=Novak', 'Email=a'])(
  'defineSchedule() refuses personal data in --only: %s',
  async (only) => {
    const flags = { cron: '@daily', query: 'select 1', only };
    await expect(defineSchedule('nightly', undefined, flags, true)).rejects.toMatchObject({
      where: '--only',
    });
  },
);

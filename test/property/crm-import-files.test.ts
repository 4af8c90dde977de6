import { createHash } from 'node:crypto';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { importerInAccountLanguage } from '../../src/domain/crm/crm.ts';
import { fieldPolicies, type FieldDecision, type FieldPolicy } from '../../src/domain/crm/field-policy.ts';
import {
  importFields,
  importerNames,
  importers,
  type ImportColumn,
  type Importer,
  type ImporterName,
  type ImportField,
} from '../../src/domain/crm/crm.ts';
import { sameValue } from '../../src/domain/crm/same-value.ts';
import { headerKey } from '../../src/domain/text/header-name.ts';
import type { ContactToImport } from '../../src/export/crm-import/read-contacts-to-import.ts';
import { writeImportFiles } from '../../src/export/crm-import/write-import-files.ts';

type WrittenImport = Awaited<ReturnType<typeof writeImportFiles>>;
import { importFolder, importerRules, type CrmRecords } from '../helpers/exports/crm-importers.ts';

const cells = [
  '',
  ' ',
  'Analyst',
  'Head, "Data"',
  '=1+1',
  '#N/A',
  '+12125550152',
  'Zürich\tWest',
  'x'.repeat(130),
  'two\nlines',
  'two\u2028more',
];
const anyPolicies = fc.record(
  Object.fromEntries(importFields.map((field) => [field, fc.constantFrom(...fieldPolicies)])),
) as fc.Arbitrary<Record<ImportField, FieldPolicy>>;

interface Case {
  readonly cell: string | undefined;
  readonly value: string | null;
  readonly isVerified: boolean;
  readonly isNewer: boolean;
}
const anyCase: fc.Arbitrary<Case> = fc.record({
  cell: fc.option(fc.constantFrom(...cells), { nil: undefined }),
  value: fc.option(fc.constantFrom(...cells.filter((cell) => cell.trim() !== ''))),
  isVerified: fc.boolean(),
  isNewer: fc.boolean(),
});
const anyContacts: fc.Arbitrary<Record<ImportField, Case>[]> = fc.array(
  fc.record(Object.fromEntries(importFields.map((field) => [field, anyCase]))),
  { minLength: 1, maxLength: 6 },
);
const modified = new Date('2026-06-01T00:00:00Z');

function contactsOf(name: ImporterName, world: readonly Record<ImportField, Case>[]): ContactToImport[] {
  const importer: Importer = importers[name];
  return world.map((fields, number) => ({
    contactId: importerRules[name].id(number),
    exported: [
      new Map([
        [headerKey(importer.modifiedHeaders[0]!), modified.toISOString()],
        ...importFields.flatMap((field): [string, string][] => {
          const header = importer.columns[field]?.header;
          const { cell } = fields[field];
          return header === undefined || cell === undefined ? [] : [[headerKey(header), cell]];
        }),
      ]),
    ],
    optedOut: false,
    optedOutOfCalls: false,
    known: Object.fromEntries(
      importFields.map((field) => {
        const { value, isVerified, isNewer } = fields[field];
        const observedAt = new Date(modified.getTime() + (isNewer ? 1 : -1) * 86_400_000);
        return [field, { value, observedAt, runId: 'run-1', isVerified, isDoNotCall: false }];
      }),
    ) as ContactToImport['known'],
    jobChange: undefined,
    company: undefined,
  }));
}

function recordsOf(name: ImporterName, contacts: readonly ContactToImport[]): CrmRecords {
  const { fields } = importerRules[name];
  return new Map(
    contacts.map(({ contactId, exported }) => [
      contactId,
      new Map(
        fields.flatMap((label): [string, string][] => {
          const cell = exported[0]!.get(headerKey(label)) ?? '';
          return cell.trim() === '' ? [] : [[label, cell]];
        }),
      ),
    ]),
  );
}

const englishHeaders = (name: ImporterName): string[] =>
  Object.values<ImportColumn>(importers[name].columns).map(({ header }) => header);

async function written<Result>(
  contacts: readonly ContactToImport[],
  name: ImporterName,
  policies: Readonly<Record<ImportField, FieldPolicy>>,
  look: (folder: string, result: WrittenImport) => Result,
  importer: Importer = importers[name],
): Promise<Result> {
  const folder = mkdtempSync(join(tmpdir(), 'crm-import-'));
  try {
    const result = await writeImportFiles(
      asyncOf(contacts),
      importerInAccountLanguage(importer, [englishHeaders(name)]),
      policies,
      folder,
    );
    return look(folder, result);
  } finally {
    rmSync(folder, { recursive: true });
  }
}

async function* asyncOf<Item>(items: readonly Item[]): AsyncIterable<Item> {
  yield* items;
}

const placeFields: readonly ImportField[] = ['city', 'state', 'country'];

describe.each(importerNames)('files for %s', (name) => {
  const importer: Importer = importers[name];

  /** True if the CRM record keeps a value that differs from the warehouse after the import. */
  function keepsOther(
    field: ImportField,
    { cell, value }: Case,
    after: ReadonlyMap<string, string>,
  ): boolean {
    const label = importer.columns[field]?.header;
    if (label === undefined || cell === undefined || cell.trim() === '') return false;
    return (after.get(label) ?? cell) === cell && !sameValue(field, cell, value ?? '');
  }

  it('importing the files changes only cells that the policies allow, and each field has a decision', async () => {
    await fc.assert(
      fc.asyncProperty(anyContacts, anyPolicies, async (world, policies) => {
        const contacts = contactsOf(name, world);
        const before = recordsOf(name, contacts);
        const after = await written(contacts, name, policies, (folder, { decisions, conflicts }) => {
          const decided = Object.values(decisions).reduce((sum, count) => sum + count, 0);
          expect(decided).toBe(world.length * Object.keys(importer.columns).length);
          expect(conflicts?.rows).toBe(decided);
          return importFolder(name, folder, before);
        });
        for (const [number, fields] of world.entries()) {
          for (const field of importFields) {
            const label = importer.columns[field]?.header;
            if (label === undefined || !importerRules[name].fields.includes(label)) continue;
            const was = before.get(importerRules[name].id(number))!.get(label);
            const is = after.get(importerRules[name].id(number))!.get(label);
            const { cell, value, isVerified, isNewer } = fields[field];
            const policy = policies[field];
            const fits = value !== null && value !== '#N/A' && value.length < 40;
            const staysAsItWas =
              placeFields.includes(field) &&
              placeFields.some((other) =>
                keepsOther(other, fields[other], after.get(importerRules[name].id(number))!),
              );
            if (staysAsItWas) expect(is).toBe(was);
            else if (cell?.trim() === '' && fits && policy !== 'never') expect(is).toBe(value);
            if (was === is) continue;
            expect(is).toBe(value);
            expect(cell).toBeDefined();
            expect(policy).not.toBe('never');
            if (cell!.trim() === '') continue;
            expect(
              policy === 'overwrite-older' ? isNewer : policy === 'overwrite-if-verified' && isVerified,
            ).toBe(true);
          }
        }
      }),
      { numRuns: Number(process.env['CRM_IMPORT_CASES'] ?? 8) },
    );
  });
});

const everything = Object.fromEntries(importFields.map((field) => [field, 'fill'])) as Record<
  ImportField,
  FieldPolicy
>;
const blank = { cell: '', value: 'Ada', isVerified: false, isNewer: true };
const blankWorld = (contacts: number) =>
  Array.from(
    { length: contacts },
    () => Object.fromEntries(importFields.map((field) => [field, blank])) as Record<ImportField, Case>,
  );

it("writeImportFiles() splits files at the importer's maximum of rows and bytes", async () => {
  const partsOf = (limits: Partial<Importer>): Promise<WrittenImport['parts']> =>
    written(
      contactsOf('hubspot', blankWorld(10)),
      'hubspot',
      everything,
      (folder, { parts }) => {
        for (const { file, bytes, sha256 } of parts) {
          const content = readFileSync(join(folder, file));
          expect(bytes).toBe(content.length);
          expect(sha256).toBe(createHash('sha256').update(content).digest('hex'));
        }
        return parts;
      },
      { ...importers.hubspot, ...limits },
    );
  expect((await partsOf({ maxRows: 4 })).map(({ rows }) => rows)).toEqual([4, 4, 2]);
  const short = await partsOf({ maxBytes: 400 });
  expect(short.length).toBeGreaterThan(1);
  expect(Math.max(...short.map(({ bytes }) => bytes))).toBeLessThanOrEqual(400);
});

it.each([
  ['2026-06-01T10:00:00Z', '2026-06-01T10:00:01Z', 'overwritten'],
  ['2026-06-01 10:00', '2026-06-01T21:00:00Z', 'kept'],
  ['2026-06-01 10:00', '2026-06-01T23:00:00Z', 'overwritten'],
  ['2026-06-01', '2026-06-02T11:00:00Z', 'kept'],
  ['2026-06-01', '2026-06-02T13:00:00Z', 'overwritten'],
  ['03/04/2026', '2026-06-02T13:00:00Z', 'kept'],
])(
  'a CRM value modified at %s (read as the latest time that this can mean) is, beside a value of %s, %s',
  async (modifiedTime, observed, decision) => {
    const [contact] = contactsOf('hubspot', blankWorld(1));
    const newest = { 'Last Modified Date': modifiedTime, 'Job Title': 'Analyst' };
    const dated: ContactToImport = {
      ...contact!,
      exported: [new Map(Object.entries(newest).map(([header, cell]) => [headerKey(header), cell]))],
      known: { ...contact!.known, title: { ...contact!.known.title, observedAt: new Date(observed) } },
    };
    const policies = { ...everything, title: 'overwrite-older' } as const;
    const { decisions } = await written([dated], 'hubspot', policies, (_, result) => result);
    expect(decisions[decision as FieldDecision]).toBe(1);
  },
);

it.each([
  ['hubspot', 'key:0123456789abcdef', 'Record ID', '', 1],
  ['hubspot', '4000', 'Record ID', '900001', 1],
  ['hubspot', '4000', 'Datensatz-ID', ' 4000 ', 0],
  ['pipedrive', '1', 'Person - ID', '17', 1],
  ['salesforce', '0035e00000AbCdEAAU', 'Contact ID', '0035e00000AbCdE', 0],
  ['zoho', '501', 'Record Id', 'zcrm_501', 0],
  [
    'dynamics',
    '00000000-0000-4000-8000-00000000000a',
    'contactid',
    '00000000-0000-4000-8000-00000000000A',
    0,
  ],
  ['hubspot', '4000', 'Customer No', '17', 0],
] as const)(
  'writeImportFiles() for %s leaves contact %s out if its export has no or another record id: %s "%s", left out: %i',
  async (name, contactId, column, cell, expected) => {
    const [contact] = contactsOf(name, blankWorld(1));
    const mapped = {
      ...contact!,
      contactId,
      exported: [new Map([...contact!.exported[0]!, [headerKey(column), cell]])],
    };
    await written([mapped], name, everything, (_, { without_record_id: withoutRecordId, parts }) =>
      expect([withoutRecordId, parts.length]).toEqual([expected, 1 - expected]),
    );
  },
);

it.each(['zcrm_', ''])(
  'writeImportFiles() writes a Zoho record id with the prefix "%s" of the export',
  async (prefix) => {
    // Contact ids of the warehouse do not have the prefix zcrm_.
    const [contact] = contactsOf('zoho', blankWorld(1));
    const row: [string, string] = [headerKey('Record Id'), ` ${prefix}${contact!.contactId} `];
    const exported = [new Map([...contact!.exported[0]!, row])];
    await written([{ ...contact!, exported }], 'zoho', everything, (folder, { parts }) =>
      expect(readFileSync(join(folder, parts[0]!.file), 'utf8')).toContain(
        `\n${prefix}${contact!.contactId},`,
      ),
    );
  },
);

it("writeImportFiles() writes a job change into job-changes.csv, and keeps the record's employer", async () => {
  const [contact] = contactsOf('hubspot', blankWorld(1));
  const moved: ContactToImport = {
    ...contact!,
    jobChange: { from: 'Acme', to: 'Orbit', title: 'CTO', detectedAt: new Date(0) },
  };
  await written([moved], 'hubspot', everything, (folder, { decisions, job_changes: jobChanges }) => {
    expect(jobChanges?.rows).toBe(1);
    expect(readFileSync(join(folder, 'job-changes.csv'), 'utf8')).toContain('Acme,Orbit,CTO');
    expect(decisions['job change']).toBe(4);
  });
});

it.each([
  ['hubspot', ['update-001.csv']],
  ['zoho', ['update-first-name-001.csv', 'update-last-name-001.csv']],
] as const)('writeImportFiles() writes updates of two fields for %s into %j', async (name, files) => {
  const world = (['first_name', 'last_name'] as const).map((changed) =>
    Object.fromEntries(
      importFields.map((field) => [field, field === changed ? blank : { ...blank, value: null }]),
    ),
  ) as Record<ImportField, Case>[];
  await written(contactsOf(name, world), name, everything, (_, { parts }) =>
    expect(parts.map(({ file }) => file)).toEqual(files),
  );
});

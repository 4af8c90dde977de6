import { readFileSync } from 'node:fs';
import { expect, it } from 'vitest';
import { recordedMapping } from '../../../src/ingest/columns/fields.ts';
import { readDataRecords } from '../../../src/ingest/reading/data-records.ts';
import { openExport } from '../../../src/ingest/reading/open-export.ts';
import { exportFiles } from '../../helpers/exports/export-file.ts';

/** A file with the expected content or error. `|` separates cells; warnings and problems are patterns. */
interface Example {
  readonly title: string;
  readonly text: string;
  readonly name?: string;
  readonly mapping?: Readonly<Record<string, unknown>>;
  readonly read?: Partial<ReadFile>;
  readonly problem?: Readonly<Record<string, string>>;
}

interface ReadFile {
  readonly header: string;
  readonly delimiter: string;
  readonly source: string;
  readonly mapping: Readonly<Record<string, string>>;
  readonly rows: readonly string[];
  readonly faults: readonly string[];
  readonly warnings: readonly string[];
}

const file = exportFiles();
const examples = readFileSync(new URL('../../data/ingest/files.jsonl', import.meta.url), 'utf8')
  .trimEnd()
  .split('\n')
  .map((line) => JSON.parse(line) as Example);

async function read({ text, name, mapping }: Example): Promise<ReadFile> {
  const opened = await openExport(file(text, name), { mapping });
  const { layout, columns } = opened;
  const warnings = [...opened.warnings];
  const records = [];
  for await (const batch of readDataRecords(opened, (warning) => warnings.push(warning)))
    records.push(...batch);
  return {
    ...layout.dialect,
    header: layout.header.join('|'),
    source: columns.source,
    mapping: recordedMapping(layout.header, columns),
    rows: records.filter(({ fault }) => fault === undefined).map(({ cells }) => cells.join('|')),
    faults: records.flatMap(({ fault }) => fault ?? []),
    warnings,
  };
}

const matching = (text: string): unknown => expect.stringMatching(new RegExp(text));

// Each example has the title first, because vitest cuts a `$title` after 40 characters.
it.each(examples.map((example) => [example.title, example] as const))('%s', async (_, example) => {
  const { read: expected, problem = {} } = example;
  if (expected) {
    const { warnings } = expected;
    const found = await read(example);
    expect(found).toMatchObject({ ...expected, ...(warnings && { warnings: warnings.map(matching) }) });
    return;
  }
  const members = Object.entries(problem).map(([member, text]) => [member, matching(text)]);
  const refused = await read(example).catch((error: unknown) => error);
  expect(refused).toEqual(expect.objectContaining(Object.fromEntries(members)));
  expect(refused).toMatchObject({ exitCode: 2, sentence: expect.any(String) });
});

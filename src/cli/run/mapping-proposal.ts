import { writeFile } from 'node:fs/promises';
import { basename } from 'node:path';
import { stringify } from 'yaml';
import { Problem, UsageProblem } from '../../domain/problem.ts';
import { asUnwritable } from '../../files/write-whole-file.ts';
import { fieldsOfHeader, recordedMapping } from '../../ingest/columns/fields.ts';
import {
  refusePersonalColumns,
  refuseUnknownColumns,
  type RowChoice,
} from '../../ingest/columns/chosen-column.ts';
import { optOutOf } from '../../ingest/columns/opt-outs.ts';
import { shownHeader } from '../../domain/text/header-name.ts';
import { shellWord } from '../../domain/text/format.ts';
import type { Field, FirstRows } from '../../ingest/columns/fields.ts';
import { checkedMapping } from '../../ingest/columns/mapping-file.ts';
import { proposeColumns } from '../../ingest/columns/propose-columns.ts';
import { openExport, readLayout, type ReadingOptions } from '../../ingest/reading/open-export.ts';
import { agrees } from '../terminal/confirm.ts';
import { table, tell } from '../terminal/output.ts';
import { withoutPerson, readYamlFile } from '../terminal/command.ts';

type Mapping = Readonly<Record<string, unknown>>;

/** Ends a command after `--write-mapping` has written a proposal for an export without recognised columns. */
export class ProposalWritten extends Problem {
  readonly mappingFile: string;

  constructor(mappingFile: string, ...problem: ConstructorParameters<typeof Problem>) {
    super(...problem);
    this.mappingFile = mappingFile;
  }
}

/** How an export is read: with this mapping (null: none), for contacts of this source. */
interface ReadWith {
  readonly fileSha256: string;
  readonly mapping: Mapping | null;
  readonly source: string;
}

interface MappingFlags {
  readonly writeMapping?: string;
  readonly json?: boolean;
}

/**
 * Reads an export. Where no column is recognised, shows all columns with a proposed mapping, and on a terminal asks
 * whether to use the proposal. With `--write-mapping`, writes the mapping that is recognised or proposed.
 *
 * @param shown arguments that name the export on a command line
 * @throws Problem `export.*`, `mapping.*`; `ProposalWritten` if a proposed mapping is written
 */
export async function openWithMapping(
  path: string,
  { choice, ...reading }: ReadingOptions & { readonly choice?: RowChoice },
  flags: MappingFlags,
  shown = shellWord(path),
): Promise<ReadWith> {
  const opened = await openExport(path, reading).catch((error: unknown) => {
    if (error instanceof Problem && error.type === 'export.no-identifying-column') return error;
    throw error;
  });
  if (opened instanceof Problem) return openWithProposal(path, reading, flags, { shown, problem: opened });
  const { header, recognised } = opened.layout;
  const { source } = opened.columns;
  const fieldOfColumn = recordedMapping(header, opened.columns);
  if (choice) {
    refuseUnknownColumns({ header, mapping: fieldOfColumn }, choice, recognised);
    refusePersonalColumns({ header, mapping: fieldOfColumn }, choice);
  }
  if (flags.writeMapping !== undefined) {
    const { missed } = opened.columns;
    const fields = fieldsOfHeader(header, fieldOfColumn).map((field, at) => field ?? missed[at]);
    const mapping = { ...(source !== 'generic' && { source }), ...reading.mapping };
    await writeMapping(flags.writeMapping, path, withColumns(mapping, header, fields), [
      ...missed.flatMap((field, at) =>
        field === undefined ? [] : [`Proposed, not recognised: ${field} is ${JSON.stringify(header[at])}`],
      ),
      ...furtherProposals(fields, opened.layout),
      ...commentsOf(header, fields),
    ]);
    tell(`next: ${useMapping('check', flags.writeMapping, shown)}`);
  }
  return { fileSha256: opened.file.sha256, mapping: reading.mapping ?? null, source };
}

/** @param failed.problem why the export cannot be read without a proposal */
async function openWithProposal(
  path: string,
  reading: ReadingOptions,
  flags: MappingFlags,
  { shown, problem }: { readonly shown: string; readonly problem: Problem },
): Promise<ReadWith> {
  const { layout } = await readLayout(path, reading);
  const fields = proposeColumns(layout.header, layout.rows);
  const proposal = withColumns(reading.mapping, layout.header, fields);
  tell('the columns of the file, with proposed fields:');
  tell(
    shortTable(layout.header.map((name, at) => [at + 1, shownHeader(name) || '(empty)', fields[at] ?? '-'])),
  );
  const isProposed = fields.some((field) => field !== undefined);
  const isComplete = await isReadable(path, reading, proposal);
  const { type, message, where, exitCode } = problem;
  const options = { exitCode, cause: problem, where };
  const use = (file: string): string => useMapping(isComplete ? 'check' : 'complete', file, shown);
  if (flags.writeMapping !== undefined) {
    await writeMapping(flags.writeMapping, path, proposal, [
      ...(isProposed ? [] : ['Write for example: columns: {email: "Work mail"}']),
      ...commentsOf(layout.header, fields),
    ]);
    const next = use(flags.writeMapping);
    throw new ProposalWritten(flags.writeMapping, type, message, { ...options, next });
  }
  if (flags.json !== true && isComplete && (await agrees('read the columns like this?')) === true) {
    const { file, columns } = await openExport(path, { ...reading, mapping: proposal });
    tell('to save the mapping: --write-mapping FILE');
    return { fileSha256: file.sha256, mapping: proposal, source: columns.source };
  }
  const begin = isProposed ? 'save the proposal' : 'if its rows are people, begin a mapping file';
  throw new Problem(type, message, {
    ...options,
    next: `${begin}: enrich plan ${shown} --write-mapping columns.yaml; ${use('columns.yaml')}`,
  });
}

function useMapping(what: 'check' | 'complete', file: string, shown: string): string {
  return `${what} ${file}, then: enrich plan ${shown} --mapping ${shellWord(file)}`;
}

const mostColumns = 40;

function shortTable(rows: readonly (readonly (string | number)[])[]): string {
  const shown = table(rows.slice(0, mostColumns));
  return rows.length <= mostColumns ? shown : `${shown}\n  … and ${rows.length - mostColumns} more columns`;
}

/** Whether the file can be read with the proposal. The command asks only about such a proposal. */
async function isReadable(path: string, reading: ReadingOptions, mapping: Mapping): Promise<boolean> {
  return openExport(path, { ...reading, mapping }).then(
    () => true,
    () => false,
  );
}

/** Adds columns to a mapping, and keeps the columns that the mapping has. Repeated names become column numbers. */
function withColumns(
  mapping: Mapping | undefined,
  header: readonly string[],
  fields: readonly (Field | undefined)[],
): Mapping {
  const columns: Record<string, (string | number)[]> = {};
  for (const [at, field] of fields.entries()) {
    const name = header[at]!;
    const isUnique = name !== '' && header.filter((each) => each === name).length === 1;
    // Opt-out columns are recognised by name and value, and need no mapping.
    if (field === undefined || field === 'opted_out' || field === 'opted_out_of_calls') continue;
    (columns[field] ??= []).push(isUnique ? name : at + 1);
  }
  const proposed = Object.fromEntries(
    Object.entries(columns).map(([field, list]) => [field, list.length === 1 ? list[0] : list]),
  );
  return { ...mapping, columns: { ...proposed, ...(mapping?.['columns'] as object | undefined) } };
}

/** Comments that propose fields for columns without a mapping. */
function furtherProposals(fields: readonly (Field | undefined)[], { header, rows }: FirstRows): string[] {
  return proposeColumns(header, rows).flatMap((field, at) =>
    field === undefined || fields[at] !== undefined || fields.includes(field)
      ? []
      : [`Not mapped, but it may be the ${field}: ${JSON.stringify(header[at])}`],
  );
}

/** Comments on columns that identify no person. */
function commentsOf(header: readonly string[], fields: readonly (Field | undefined)[]): string[] {
  const unused = header.filter((name, at) => name !== '' && fields[at] === undefined);
  const optOuts = header.filter((name) => optOutOf(name) !== undefined);
  const others = unused.filter((name) => !optOuts.includes(name));
  const listed = (what: string, names: readonly string[]): string[] =>
    names.length === 0 ? [] : [`${what}: ${names.map((name) => JSON.stringify(name)).join(', ')}`];
  return [
    ...listed('Opt-outs, recognised by their names', optOuts),
    ...listed('Stored with each row, and not used to find the person', others),
  ];
}

async function writeMapping(
  file: string,
  path: string,
  mapping: Mapping,
  more: readonly string[],
): Promise<void> {
  const comments = [
    `Columns of ${JSON.stringify(basename(path))}. Check each line; docs/exports.md explains the fields.`,
    ...more,
  ];
  const text = `${comments.map((comment) => `# ${comment}\n`).join('')}${stringify(mapping)}`;
  await writeFile(file, text, { flag: 'wx' }).catch((error: NodeJS.ErrnoException) => {
    if (error.code !== 'EEXIST') throw asUnwritable(error, 'the mapping file', file);
    throw new UsageProblem('output.unwritable', 'the file exists', { where: file, next: 'name a new file' });
  });
  tell(`mapping written to ${file}`);
}

/**
 * Reads a mapping file.
 *
 * @throws Problem `mapping.missing`, `mapping.unreadable`, `mapping.invalid`
 */
export async function readMapping(path: string): Promise<Mapping> {
  const wrong = (what: string, cause?: unknown): Problem => {
    const isMissing = (cause as NodeJS.ErrnoException | undefined)?.code === 'ENOENT';
    return new UsageProblem(isMissing ? 'mapping.missing' : 'mapping.unreadable', what, {
      where: path,
      next: 'write a JSON or YAML file such as {"columns": {"email": "E-mail"}}; docs/exports.md shows all fields',
      cause,
    });
  };
  const mapping = await readYamlFile(path, 'the mapping file', wrong);
  if (typeof mapping !== 'object' || mapping === null || Array.isArray(mapping))
    throw wrong('the mapping file has no mapping of fields');
  // Runs keep their mapping.
  const next = 'name columns by their header or by their number, as in {"columns": {"email": 3}}';
  withoutPerson(JSON.stringify(mapping), { what: 'the mapping file', where: path, next });
  return checkedMapping(mapping, path);
}

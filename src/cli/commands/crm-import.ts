import { importerNames, importers, type ImporterName } from '../../domain/crm/crm.ts';
import { defaultPolicies, readPolicyPairs } from '../../domain/crm/field-policy.ts';
import { UsageProblem } from '../../domain/problem.ts';
import { counted } from '../../domain/text/format.ts';
import type { Warehouse } from '../../db/database.ts';
import { exportForCrm, type ImportManifest } from '../../export/crm-import/export-for-crm.ts';
import { contactSources, readSources } from '../../people/contact-sources.ts';
import type { RunRecord } from '../../runs/runs.ts';
import { print, printJson, table, tell } from '../terminal/output.ts';

export interface CrmImportFlags {
  readonly for: string;
  readonly output?: string;
  readonly source?: string;
  readonly since?: string;
  readonly policy?: string;
  readonly json?: boolean;
}

/** `enrich export --for`: writes a folder of import files and says what is in it. */
export async function writeCrmImport(
  warehouse: Warehouse,
  flags: CrmImportFlags,
  run: Pick<RunRecord, 'runId' | 'source'> | undefined,
): Promise<void> {
  const runId = run?.runId;
  const importer = importerOf(flags.for);
  const folder = flags.output;
  // Without this check, s3://… would create a local folder called `s3:`.
  if (folder === undefined || /^s3:/i.test(folder)) {
    throw new UsageProblem('setting.invalid', 'import files are written into a folder of this machine', {
      where: '--output',
      next: `name a new folder, such as --output ${importer}-import`,
    });
  }
  const { source, since } = flags;
  if (source === undefined) await requireContacts(warehouse, importer, run);
  else requireOwnSource(importer, source);
  const policies = flags.policy === undefined ? defaultPolicies : readPolicyPairs(flags.policy);
  const manifest = await exportForCrm(warehouse, { importer, folder, source, since, runId, policies });
  if (flags.json === true) return printJson<'import-manifest'>(manifest);
  describe(manifest, folder);
  const { contacts, without_record_id: withoutRecordId, opted_out: optedOut, suppressed } = manifest;
  if (contacts + withoutRecordId + optedOut + suppressed > 0) return;
  const which = runId === undefined ? '' : ` whose person is from ${runId}`;
  tell(`no contact of ${manifest.source}${which}${since === undefined ? '' : ' changed since'}`);
}

/**
 * Refuses contacts of another CRM: their record ids would be missing in this CRM, or be those of other records.
 * A source that is no CRM's own name may hold contacts of this CRM.
 *
 * @throws Problem `setting.invalid`
 */
export function requireOwnSource(importer: ImporterName, source: string): void {
  const owner = ownerOf(source);
  if (owner === undefined || owner === importer) return;
  throw new UsageProblem(
    'setting.invalid',
    `contacts of ${source} have no record ids of ${importers[importer].title}`,
    { where: '--source', next: `write --for ${owner}, or leave --source out` },
  );
}

/**
 * Refuses a CRM of which no run has read an export, or of which the run has no contacts, before a folder is replaced. A
 * run can also have contacts of other sources than its own: those of people whom it asked for.
 *
 * @throws Problem `source.unknown`
 */
async function requireContacts(
  { database }: Warehouse,
  importer: ImporterName,
  run: Pick<RunRecord, 'runId' | 'source'> | undefined,
): Promise<void> {
  const { title, source: own } = importers[importer];
  if (run?.source === own || run?.source === null) return;
  const sources = run ? await contactSources(database, run.runId) : await readSources(database);
  if (sources.includes(own)) return;
  const [what, where] = run ? ['the run has', `--run ${run.runId}`] : ['there are', '--for'];
  const others =
    sources.length === 0
      ? ''
      : `the contacts are of ${sources.join(', ')}: write --for with their CRM, or --source if their contact ids are ` +
        `record ids of ${title}; or `;
  throw new UsageProblem('source.unknown', `${what} no contacts of ${title} (source "${own}")`, {
    where,
    next: `${others}enrich an export of ${title} first: enrich run FILE`,
  });
}

function ownerOf(source: string): ImporterName | undefined {
  return importerNames.find((name) => importers[name].source === source);
}

function describe(manifest: ImportManifest, folder: string): void {
  const { contacts, parts, decisions, without_record_id: withoutRecordId } = manifest;
  const rows = parts.reduce((sum, part) => sum + part.rows, 0);
  const sorted = Object.entries(decisions).sort(([, one], [, other]) => other - one);
  const decided = sorted.reduce((sum, [, count]) => sum + count, 0);
  print(table([['decision', 'fields'], ...sorted, ['all fields of all contacts', decided]]));
  tell(
    `${counted(rows, 'update')} of ${counted(contacts, 'contact')} in ${counted(parts.length, 'file')}: ${folder}`,
  );
  const { title: crm, modifiedHeaders } = importers[manifest.importer];
  const notes: readonly (readonly [count: number, noun: string, note: string])[] = [
    [withoutRecordId, 'contact', `left out: the contact id is not a record id of ${crm}`],
    [manifest.suppressed, 'contact', 'left out: on the suppression list'],
    [manifest.opted_out, 'contact', 'left out: opted out in the newest export'],
    [
      manifest.without_cells,
      'contact',
      'left out: the cells of the newest export were removed; run it again',
    ],
    [
      manifest.without_modified_time,
      'contact',
      'with overwrite-older as fill: the newest export lacks their modified time (column ' +
        `"${modifiedHeaders[0]}", such as 2026-11-21 08:42)`,
    ],
    [decisions['kept blank'] ?? 0, 'blank field', 'not written by the policy never (--policy email=fill)'],
    [manifest.missing_columns.length, 'field', `without a column: ${manifest.missing_columns.join(', ')}`],
  ];
  for (const [count, noun, note] of notes) if (count > 0) tell(`${counted(count, noun)} ${note}`);
  if (manifest.conflicts) tell(`each decision is in ${manifest.conflicts.file}`);
  if (manifest.job_changes)
    tell(`${counted(manifest.job_changes.rows, 'job change')} in ${manifest.job_changes.file}`);
  tell(parts.length === 0 ? 'nothing to import' : manifest.instruction);
  if (manifest.commands[0] !== undefined) tell(`such as: ${manifest.commands[0]}`);
  if (manifest.cursor !== null) tell(`next time: --since ${manifest.cursor}`);
}

/** How many contacts an export leaves out because of the suppression list. */
export function describeSuppressed(contacts: number): string {
  return `${counted(contacts, 'contact')} left out: on the suppression list`;
}

function importerOf(name: string): ImporterName {
  const importer = importerNames.find((each) => each === name || importers[each].source === name);
  if (importer !== undefined) return importer;
  throw new UsageProblem('setting.invalid', `there is no importer "${name}"`, {
    where: '--for',
    next: `write one of ${importerNames.join(', ')}`,
  });
}

import { importerNames, importers, type ImporterName } from '../../domain/crm/crm.ts';
import { defaultPolicies, readPolicyPairs } from '../../domain/crm/field-policy.ts';
import { UsageProblem } from '../../domain/problem.ts';
import type { Warehouse } from '../../db/database.ts';
import { exportForCrm } from '../../export/crm-import/export-for-crm.ts';
import type { ImportManifest } from '../../export/crm-import/import-manifest.ts';
import { describeFields, print, printJson, tell } from '../terminal/output.ts';

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
  runId: string | undefined,
): Promise<void> {
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
  if (source !== undefined) requireOwnSource(importer, source);
  const policies = flags.policy === undefined ? defaultPolicies : readPolicyPairs(flags.policy);
  const manifest = await exportForCrm(warehouse, { importer, folder, source, since, runId, policies });
  if (flags.json === true) return printJson<'import-manifest'>(manifest);
  describe(manifest, folder);
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

function ownerOf(source: string): ImporterName | undefined {
  return importerNames.find((name) => importers[name].source === source);
}

function describe({ parts, decisions, ...manifest }: ImportManifest, folder: string): void {
  print(
    describeFields({
      contacts: manifest.contacts,
      updates: parts.reduce((sum, part) => sum + part.rows, 0),
      files: parts.length,
      folder,
      left_out_without_record_id: manifest.without_record_id,
      left_out_suppressed: manifest.suppressed,
      left_out_opted_out: manifest.opted_out,
      left_out_without_cells: manifest.without_cells,
      without_modified_time: manifest.without_modified_time,
      missing_columns: manifest.missing_columns,
      ...decisions,
      decisions_in: manifest.conflicts?.file ?? null,
      job_changes_in: manifest.job_changes?.file ?? null,
    }),
  );
  const source = `source "${manifest.source}"; --source NAME takes another`;
  tell(parts.length === 0 ? `nothing to import: ${source}` : manifest.instruction);
  if (manifest.commands[0] !== undefined) tell(`such as: ${manifest.commands[0]}`);
  if (manifest.cursor !== null) tell(`next time: --since ${manifest.cursor}`);
}

function importerOf(name: string): ImporterName {
  const importer = importerNames.find((each) => each === name || importers[each].source === name);
  if (importer !== undefined) return importer;
  throw new UsageProblem('setting.invalid', `there is no importer "${name}"`, {
    where: '--for',
    next: `write one of ${importerNames.join(', ')}`,
  });
}

import { readdir, rename, rm, writeFile } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { asUnwritable, withDraft } from '../../files/write-whole-file.ts';
import { makeFolder } from '../../files/make-folder.ts';
import type { FieldPolicy } from '../../domain/crm/field-policy.ts';
import {
  importers,
  importerInAccountLanguage,
  type ImporterName,
  type ImportField,
} from '../../domain/crm/crm.ts';
import { UsageProblem } from '../../domain/problem.ts';
import type { Warehouse } from '../../db/database.ts';
import { newestCursor, requireCursor } from '../../people/change-feed.ts';
import { countSuppressed, cursorAdvice, type ContactChoice } from '../contact-choice.ts';
import { readContactsToImport, readExportHeaders } from './read-contacts-to-import.ts';
import type { ImportManifest } from './import-manifest.ts';
import { writeCompanies } from './write-companies.ts';
import { writeImportFiles } from './write-import-files.ts';

interface CrmExport extends ContactChoice {
  readonly importer: ImporterName;
  readonly folder: string;
  readonly policies: Readonly<Record<ImportField, FieldPolicy>>;
}

/** Writes an import folder, which appears when complete. It replaces only a folder of an earlier export. */
export async function exportForCrm(
  warehouse: Warehouse,
  options: CrmExport,
): Promise<{ readonly manifest: ImportManifest; readonly replaced: number }> {
  const folder = resolve(options.folder);
  try {
    if (options.since !== undefined) await requireCursor(warehouse.database, options.since, cursorAdvice);
    const replaced = await countReplaceable(folder);
    return await withDraft(folder, async (draft) => {
      const manifest = await writeDraft(warehouse, options, draft);
      await rm(folder, { recursive: true, force: true });
      await rename(draft, folder);
      return { manifest, replaced };
    });
  } catch (error) {
    throw asUnwritable(error, 'the folder', folder);
  }
}

async function writeDraft(warehouse: Warehouse, options: CrmExport, folder: string): Promise<ImportManifest> {
  makeFolder(folder);
  const english = importers[options.importer];
  const source = options.source ?? english.source;
  // The cursor is read before the contacts: a concurrent change is then exported now, or follows the cursor.
  const cursor = (await newestCursor(warehouse.database)) ?? null;
  const choice = { source, runId: options.runId, since: options.since };
  const contacts = readContactsToImport(warehouse, choice);
  const importer = importerInAccountLanguage(english, await readExportHeaders(warehouse, source));
  const { companyKeys, ...written } = await writeImportFiles(contacts, importer, options.policies, folder);
  const manifest: ImportManifest = {
    importer: options.importer,
    source,
    policies: options.policies,
    cursor,
    instruction: importer.instruction,
    commands: written.parts.flatMap(({ file }) => importer.command?.replace('FILE', file) ?? []),
    suppressed: await countSuppressed(warehouse, choice),
    ...written,
    ...(await writeCompanies(warehouse, companyKeys, importer, folder)),
  };
  await writeFile(join(folder, 'manifest.json'), `${JSON.stringify(manifest, null, 2)}\n`, { mode: 0o600 });
  return manifest;
}

/** Matches the names of the files that this export writes. */
const ownFile = /^(?:manifest\.json|(?:conflicts|job-changes|companies-\d+|update-[a-z+-]*\d+)\.csv)$/;

/** Counts the files of an earlier export, which is replaced. Refuses a folder with other files. */
async function countReplaceable(folder: string): Promise<number> {
  const names = await readdir(folder).catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT') return [];
    throw error;
  });
  if (names.every((name) => ownFile.test(name))) return names.length;
  throw new UsageProblem('output.not-empty', 'the folder has files that enrich export did not write', {
    where: folder,
    next: 'choose an empty or a new folder with --output',
  });
}

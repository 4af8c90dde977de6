import { UsageProblem, type Problem } from '../problem.ts';
import { importerNames, importers, type ImporterName } from './importer.ts';

/**
 * Refuses contacts of another CRM: their record ids would be missing in this CRM, or be those of other records.
 * A source that is no CRM's own name may hold contacts of this CRM.
 *
 * @throws Problem `setting.invalid`
 */
export function requireOwnSource(importer: ImporterName, source: string | undefined): void {
  const owner = importerNames.find((each) => importers[each].source === source);
  if (source === undefined || owner === undefined || owner === importer) return;
  throw new UsageProblem(
    'setting.invalid',
    `contacts of ${source} have no record ids of ${importers[importer].title}`,
    { where: '--source', next: `write --for ${owner}, or leave --source out` },
  );
}

/**
 * Explains that a run wrote no contact of the CRM, because its export came under another source. Pure.
 *
 * @param run.source such as `generic`, which names no CRM
 */
export function runOfAnotherSource(
  importer: ImporterName,
  run: { readonly runId: string; readonly source: string },
): Problem {
  const { title, source: own } = importers[importer];
  const owner = importerNames.find((each) => importers[each].source === run.source);
  return new UsageProblem(
    'setting.invalid',
    `run ${run.runId} has contacts of source "${run.source}", and none of source "${own}"`,
    {
      where: '--for',
      next:
        owner === undefined
          ? `add --source ${run.source}, if its contact ids are record ids of ${title}; otherwise give enrich run an ` +
            `export of ${title} with record ids, with --source ${own} if its header is not recognised`
          : `write --for ${owner}, or --run with a run of ${title}`,
    },
  );
}

/** What to export in place of a CRM without contacts: the next step. Pure. @param sources of the warehouse */
export function sourcesInstead(importer: ImporterName, sources: readonly string[]): string {
  const { title, source: own } = importers[importer];
  const isOther = (source: string): boolean =>
    importerNames.some((name) => importers[name].source === source);
  const possible = sources.filter((source) => source === own || !isOther(source));
  const others = importerNames.filter(
    (name) => name !== importer && sources.includes(importers[name].source),
  );
  const steps = [
    ...(others.length === 0 ? [] : [`write --for ${others.join(' or --for ')} for its contacts`]),
    ...(possible.length === 0
      ? []
      : [`add --source ${possible.join(' or --source ')}, if its contact ids are record ids of ${title}`]),
  ];
  return steps.length === 0 ? 'enrich an export first: enrich run FILE' : steps.join('; or ');
}

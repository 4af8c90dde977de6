import { UsageProblem } from '../../../domain/problem.ts';
import { shownHeader } from '../../../domain/text/header-name.ts';
import type { Columns } from '../columns.ts';
import type { Field } from '../fields.ts';
import type { KnownExport } from '../recognition/known-exports.ts';
import type { ExportMapping } from '../mapping/mapping-file.ts';
import { valueForm } from './opt-out-answers.ts';
import { describesOptOut, optOutOf, type OptOutMeaning, type OptOutScope } from './opt-out.ts';

export interface OptOutColumn extends OptOutMeaning {
  readonly column: number;
  /** Values, by `valueForm`, that mean "opted out", in place of the rule of the polarity. */
  readonly values?: ReadonlySet<string>;
  /** The column has the time, reason or source of opt-outs, so that any text is an answer. */
  readonly isDescription?: boolean;
}

export const fieldOfScope = {
  processing: 'opted_out',
  calls: 'opted_out_of_calls',
} as const satisfies Record<OptOutScope, Field>;

/** The columns of opt-outs that a mapping file names. @throws Problem `mapping.opt-out-ignored` */
export function givenOptOuts(columns: Columns, mapping: ExportMapping | undefined): OptOutColumn[] {
  const { opted_out: optedOut, opted_out_of_calls: optedOutOfCalls } = mapping?.columns ?? {};
  const given = [
    ...optOutsOfScope(columns, optedOut, 'processing'),
    ...optOutsOfScope(columns, optedOutOfCalls, 'calls'),
  ];
  refuseIgnoredOptOuts(columns, mapping?.ignore);
  return given;
}

function optOutsOfScope(
  columns: Columns,
  given: NonNullable<ExportMapping['columns']>['opted_out'],
  scope: OptOutScope,
): OptOutColumn[] {
  const list = given === undefined ? [] : Array.isArray(given) ? given : [given];
  return list.map((entry) => {
    const reference = typeof entry === 'object' ? entry.column : entry;
    const [column] = columns.take(reference);
    const polarity = optOutOf(columns.nameOf(column!))?.polarity ?? 'refusal';
    const isDescription = describesOptOut(columns.nameOf(column!));
    const read = { column: column!, polarity, scope, isDescription };
    return typeof entry === 'object' ? { ...read, values: new Set(entry.values.map(valueForm)) } : read;
  });
}

function refuseIgnoredOptOuts(columns: Columns, ignore: ExportMapping['ignore']): void {
  if (ignore === undefined) return;
  for (const column of columns.take(ignore)) {
    const meaning = optOutOf(columns.nameOf(column));
    if (meaning === undefined) continue;
    const forbidden = meaning.scope === 'calls' ? 'called' : 'processed';
    throw new UsageProblem(
      'mapping.opt-out-ignored',
      `column "${shownHeader(columns.nameOf(column))}" says who must not be ${forbidden}, and cannot be ignored`,
      {
        where: 'ignore in the mapping file',
        next:
          `list the values that mean "opted out": {"columns": {"${fieldOfScope[meaning.scope]}": {"column": "…", ` +
          '"values": ["yes"]}}}',
      },
    );
  }
}

/** Free columns that say by their names who has opted out. */
export function namedOptOuts(columns: Columns, header: readonly string[]): OptOutColumn[] {
  return [...header.entries()].flatMap(([column, name]) => {
    const meaning = columns.isFree(column) ? optOutOf(name) : undefined;
    return meaning === undefined ? [] : [{ column, ...meaning, isDescription: describesOptOut(name) }];
  });
}

/** The service's own export has a stage for people who must not be contacted. */
export function stageOptOuts(columns: Columns, known: KnownExport | undefined): OptOutColumn[] {
  const stages = known?.source === 'service' ? columns.claim('opted_out', ['Stage']) : [];
  const values = new Set(['do not contact']);
  return stages.map((column) => ({ column, polarity: 'consent', scope: 'processing', values }));
}

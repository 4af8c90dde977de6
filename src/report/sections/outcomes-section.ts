import { isOutcome, outcomeFacts } from '../../domain/runs/outcome.ts';
import { numberColumns, type Section } from '../document-types.ts';
import type { RunReport } from '../report-types.ts';
import { formatNumber } from '../../domain/text/format-number.ts';
import { formatPercent } from '../../domain/text/format-percent.ts';
import { words } from '../wording.ts';

/** The section on outcomes: how many rows ended in each. */
export function outcomesSection({
  run,
  outcomes,
  contested_rows: contested,
  lost_contacts: lost,
}: RunReport): Section {
  const whole = Object.values(outcomes).reduce((sum, number) => sum + number, 0);
  const rows = Object.entries(outcomes).map(([outcome, number]) => [
    words(outcome),
    formatNumber(number),
    formatPercent(number, whole),
    isOutcome(outcome) ? outcomeFacts[outcome].meaning : openRows,
  ]);
  return {
    id: 'outcomes',
    title: 'Outcomes',
    lead: 'Every row of the file ends in exactly one outcome.',
    tables: [
      {
        caption: 'Rows by outcome',
        columns: [{ title: 'Outcome' }, ...numberColumns('Rows', 'Share'), { title: 'Meaning' }],
        rows: [...rows, ['all rows', formatNumber(run.rows), formatPercent(run.rows, run.rows), '']],
      },
      ...(contested === 0
        ? []
        : [
            {
              caption: 'Rows whose record id names different people, which the run does not ask for',
              columns: [{ title: 'Outcome' }, ...numberColumns('Rows')],
              rows: [['duplicate', formatNumber(contested)]],
            },
          ]),
      ...(lost.length === 0
        ? []
        : [
            {
              caption: 'Rows whose contact has lost its person since',
              columns: [{ title: 'Reason' }, ...numberColumns('Rows')],
              rows: lost.map(({ reason, rows: number }) => [reason, formatNumber(number)]),
            },
          ]),
    ],
  };
}

const openRows = 'not decided yet';

import { isOutcome, outcomeFacts } from '../../domain/runs/outcome.ts';
import { numberColumns, tableOfNumbers, type Section } from '../document-types.ts';
import type { RunReport } from '../report-types.ts';
import { formatNumber } from '../../domain/text/format-number.ts';
import { formatPercent } from '../../domain/text/format-percent.ts';
import { words } from '../wording.ts';

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
    isOutcome(outcome) ? outcomeFacts[outcome].meaning : 'not decided yet',
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
      tableOfNumbers(
        'Rows whose record id names different people, which the run does not ask for',
        ['Outcome', 'Rows'],
        contested === 0 ? [] : [['duplicate', formatNumber(contested)]],
      ),
      tableOfNumbers(
        'Rows whose contact has lost its person since',
        ['Reason', 'Rows'],
        lost.map(({ reason, rows: number }) => [reason, formatNumber(number)]),
      ),
    ],
  };
}

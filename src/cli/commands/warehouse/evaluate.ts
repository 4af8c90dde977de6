import { Command, jsonOption, type JsonFlag } from '../../terminal/command.ts';
import { describeRate } from '../../../domain/runs/match-rate.ts';
import { counted, countedPeople } from '../../../domain/text/counted.ts';
import type { Evaluation } from '../../../domain/evaluation/evaluate.ts';
import { evaluateTruth } from '../../../report/evaluation/evaluate-truth.ts';
import { printFacts, table } from '../../terminal/output.ts';
import { withWarehouse } from '../../session/session.ts';
import { settingsOfExisting, withSettings } from '../../session/settings-flags.ts';

export function evaluateCommand(): Command {
  return withSettings(new Command('evaluate'))
    .description('Compare the warehouse with known values: coverage and accuracy per field, wrong people.')
    .requiredOption('--truth <file>', 'CSV file of known values, by record id of the CRM or by email')
    .option('--source <name>', 'source of the contacts (default: the only one in the warehouse)')
    .option(...jsonOption)
    .explain(`
Columns are found by their names: record id or email as the key; email, phone, title, organization, domain, LinkedIn
URL, city, state, country as values; first and last name to find contacts with the data of another person.

Examples:
  enrich evaluate --truth sample.csv
  enrich report latest --truth sample.csv --output report.html`)
    .action(async (options: { truth: string; source?: string } & JsonFlag) => {
      const evaluation = await withWarehouse(settingsOfExisting(options), ({ warehouse }) =>
        evaluateTruth(warehouse.database, options.truth, options.source),
      );
      printFacts(options.json, evaluation, describe(evaluation));
    });
}

function describe({ source, people, enriched, fields, wrong_people: wrong }: Evaluation): string {
  const shown = (rate: Evaluation['fields'][number]['coverage']): string => (rate ? describeRate(rate) : '–');
  return [
    `${countedPeople(people)} of ${source}, ${enriched} with data in the warehouse`,
    table([
      ['field', 'known', 'filled', 'correct', 'coverage', 'accuracy'],
      ...fields.map(({ field, known, filled, correct, coverage, accuracy }) => [
        field,
        known,
        filled,
        correct,
        shown(coverage),
        shown(accuracy),
      ]),
    ]),
    `${counted(wrong.length, 'contact')} with the data of another person`,
    ...wrong.map(
      ({ row, contact_id: contactId, because }) => `  row ${row}: contact ${contactId} (other ${because})`,
    ),
  ].join('\n');
}

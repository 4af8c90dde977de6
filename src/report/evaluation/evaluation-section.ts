import { describeRate } from '../../domain/runs/match-rate.ts';
import { counted, countedPeople } from '../../domain/text/counted.ts';
import { formatNumber } from '../../domain/text/format-number.ts';
import { numberColumns, tableOfNumbers, type Section, type Table } from '../document-types.ts';
import { fieldName } from '../wording.ts';
import type { Evaluation } from '../../domain/evaluation/evaluate.ts';

export function evaluationSection(evaluation: Evaluation): Section {
  const { people, enriched, source, identities_compared: compared, wrong_people: wrong } = evaluation;
  return {
    id: 'evaluation',
    title: 'Compared with known values',
    lead:
      `The truth file has ${countedPeople(people)} of source ${source}; the warehouse has data for ` +
      `${formatNumber(enriched)}. Coverage is the share of known values for which the warehouse has a value, ` +
      'accuracy the share of these values that are the known ones, each with its 95 % interval (Wilson). ' +
      `Of ${countedPeople(compared)} whose name or profile is known, ${counted(wrong.length, 'contact')} ` +
      `${wrong.length === 1 ? 'holds' : 'hold'} the data of another person.`,
    tables: [fieldTable(evaluation), wrongPeopleTable(evaluation)],
  };
}

function fieldTable({ fields }: Evaluation): Table {
  return tableOfNumbers(
    'Coverage and accuracy, by field',
    ['Field', 'Known', 'Filled', 'Correct', 'Coverage', 'Accuracy'],
    fields.map(({ field, known, filled, correct, coverage, accuracy }) => [
      fieldName(field),
      formatNumber(known),
      formatNumber(filled),
      formatNumber(correct),
      coverage === null ? '–' : describeRate(coverage),
      accuracy === null ? '–' : describeRate(accuracy),
    ]),
  );
}

function wrongPeopleTable({ wrong_people: wrong }: Evaluation): Table {
  return {
    caption: 'Contacts with the data of another person',
    columns: [...numberColumns('Row of the truth file'), { title: 'Contact' }, { title: 'Other' }],
    rows: wrong.map(({ row, contact_id: contactId, because }) => [formatNumber(row), contactId, because]),
  };
}

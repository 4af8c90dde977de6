import { tableOfNumbers, type Section } from '../document-types.ts';
import type { RunReport } from '../report-types.ts';
import { counted } from '../../domain/text/counted.ts';
import { formatNumber } from '../../domain/text/format-number.ts';
import { formatPercent } from '../../domain/text/format-percent.ts';
import { fieldName } from '../wording.ts';

export function coverageSection({ coverage }: RunReport): Section {
  const { contacts, fields } = coverage;
  const title = 'Coverage before and after';
  if (fields.length === 0) {
    const lead = 'The cells of the file were removed after their retention period (RETENTION).';
    return { id: 'coverage', title, lead, tables: [] };
  }
  return {
    id: 'coverage',
    title,
    lead:
      `The number of contacts with each field, of ${counted(contacts, 'contact')} in the file (without duplicates ` +
      'and unreadable rows): in the export, and now in the export or the warehouse. ' +
      'A dash means that no column is recognised for the field.',
    tables: [
      tableOfNumbers(
        'Contacts with a value, by field',
        ['Field', 'Before', 'After', 'Gained', 'Before, share', 'After, share'],
        fields.map(({ field, before, after, gained }) => [
          fieldName(field),
          before === null ? '–' : formatNumber(before),
          formatNumber(after),
          `+${formatNumber(gained)}`,
          before === null ? '–' : formatPercent(before, contacts),
          formatPercent(after, contacts),
        ]),
      ),
    ],
  };
}

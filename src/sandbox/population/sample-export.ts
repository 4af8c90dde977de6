import { Chance } from '../faults/chance.ts';
import { Population } from './population.ts';

const header = [
  'Record ID',
  'First Name',
  'Last Name',
  'Email',
  'Phone Number',
  'Company Name',
  'Company domain name',
  'Job Title',
  'City',
  'Country/Region',
  'LinkedIn URL',
  'Contact owner',
  'Create Date',
  'Last Modified Date',
];

/**
 * A sample export in HubSpot's format, of known and unknown people, with the flaws of real exports: repeated
 * people, rows with little data, addresses in capitals, commas and quotes in cells.
 *
 * @param options.people number of rows; the same seed and number give the same file
 * @yields the file in pieces
 */
export function* sampleExport(options: {
  readonly people: number;
  readonly seed: number;
}): Generator<string> {
  const population = new Population({ seed: 1, people: 100_000, matchRate: 0, ambiguousRate: 0 });
  yield line(header);
  for (let row = 1; row <= options.people; row += 1) {
    const chance = new Chance(options.seed, `row ${row}`);
    const again = row > 10 && chance.share(0.03, 1);
    const source = again ? row - 1 - chance.below(9, 2) : row;
    const person = population.numbered(new Chance(options.seed, `sample ${source}`).below(100_000));
    const unknown = chance.share(0.12, 3);
    const bare = chance.share(0.02, 4);
    const email = unknown ? `nobody.${row}@gone-${row}.example` : (person.email ?? '');
    yield line([
      String(400_000 + row),
      bare ? '' : person.firstName,
      bare ? '' : unknown ? `${person.lastName}ova` : person.lastName,
      bare ? '' : again ? email.toUpperCase() : email,
      '',
      bare ? '' : unknown ? `Gone ${row}, "the" Company` : person.organization.name,
      bare || unknown ? '' : person.organization.domain,
      '',
      chance.pick(['Havenbruk', 'Østerby', 'São Brás', 'Little Marsh'], 5),
      'Norway',
      bare || unknown || chance.share(0.6, 6) ? '' : person.profileUrl,
      'Sales, North',
      `2025-0${1 + chance.below(9)}-14 09:30`,
      '2026-10-02 17:05',
    ]);
  }
}

function line(cells: readonly string[]): string {
  return `${cells.map((cell) => (/[",\n]/.test(cell) ? `"${cell.replaceAll('"', '""')}"` : cell)).join(',')}\r\n`;
}

import Papa from 'papaparse';
import { Chance } from './chance.ts';
import { Population, populationSize } from './population.ts';

const header =
  'Record ID,First Name,Last Name,Email,Phone Number,Company Name,Company domain name,Job Title,City,Country/Region,' +
  'LinkedIn URL,Unsubscribed from all email,Contact owner,Create Date,Last Modified Date\r\n';

const owners = ['Hannah Reed', 'Jonas Keller', 'Amira Nordin', 'Samuel Roy'];

/** Makes an export in HubSpot's format with duplicates, opt-outs and gaps. Equal seeds give equal files. */
export function* sampleExport(options: {
  readonly people: number;
  readonly seed: number;
}): Generator<string> {
  const population = new Population();
  yield header;
  for (let row = 1; row <= options.people; row += 1) {
    const chance = new Chance(options.seed, `row ${row}`);
    const isRepeated = row > 10 && chance.share(0.03, 1);
    const source = isRepeated ? row - 1 - chance.below(9, 2) : row;
    const number = new Chance(options.seed, `sample ${source}`).below(populationSize);
    // These people are colleagues of known people, and the sandbox does not know their e-mails.
    const isUnknown = chance.share(0.12, 3);
    const person = population.numbered(isUnknown ? populationSize + (number % 20_000) : number);
    const { firstName, lastName, organization, profileUrl } = person;
    const email = person.email ?? '';
    // Of these people, the CRM has only the first name.
    const isBare = chance.share(0.02, 4);
    const hasProfile = !isUnknown && !chance.share(0.6, 6);
    yield `${Papa.unparse([
      [
        String(400_000 + row),
        firstName,
        ...(isBare ? ['', ''] : [lastName, isRepeated ? email.toUpperCase() : email]),
        '',
        ...(isBare ? ['', ''] : [organization.name, organization.domain]),
        '',
        chance.pick(organization.country.cities, 5)[0],
        organization.country.name,
        hasProfile && !isBare ? profileUrl : '',
        String(chance.below(100, 5) === 99),
        chance.pick(owners),
        `2025-0${1 + chance.below(9)}-14 09:30`,
        '2026-10-02 17:05',
      ],
    ])}\r\n`;
  }
}

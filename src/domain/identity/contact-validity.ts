import { readyIdentity, readyPerson, weigh } from './identity-evidence.ts';
import type { Identity } from './identity.ts';
import { compareNames } from './names/name-agreement.ts';
import type { Person } from './person.ts';

/**
 * Returns why the newest cells of a contact contradict its person; undefined if they do not.
 *
 * A contact with the person's name stays that person when its address or employer changes. A contact with another name,
 * or without a name and with none of the person's identifiers, is another person.
 */
export function contradictionOf(cells: Identity, person: Person): string | undefined {
  const row = readyIdentity(cells);
  const candidate = readyPerson(person);
  const fit = weigh(row, candidate);
  if (fit.strength !== 'none') return undefined;
  switch (compareNames(row.name, candidate.name)) {
    case 'agree':
      return cells.personId !== undefined &&
        candidate.personId !== undefined &&
        cells.personId !== candidate.personId
        ? fit.reason
        : undefined;
    case 'partly':
    case 'unknown':
    case 'other_first_name':
    case 'differ':
      return fit.reason;
  }
}

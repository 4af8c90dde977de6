import { readyIdentity, readyPerson, weigh, type EmailHashes, type Evidence } from './identity-evidence.ts';
import type { Identity } from './identity.ts';
import { compareNames } from './name-agreement.ts';
import type { Person } from './person.ts';

/** A known person who may be the person of a contact. */
export interface KnownPerson {
  readonly personKey: string;
  readonly person: Person;
}

/** Which known person a contact is by its own cells, without any call. */
export type KnownMatch =
  | { readonly kind: 'match'; readonly personKey: string; readonly evidence: Evidence }
  | { readonly kind: 'none'; readonly reason: string };

/**
 * Decides whether a contact is one of the people who are known under one of its keys. Only strong evidence counts,
 * because no call asked for this contact: an address of its own, a profile URL, an id or a hash. Where two people
 * fit, the contact is neither.
 */
export function matchKnown(
  cells: Identity,
  candidates: readonly KnownPerson[],
  hashesOf: EmailHashes,
): KnownMatch {
  const row = readyIdentity(cells);
  const fits = candidates.map(({ personKey, person }) => ({
    personKey,
    fit: weigh(row, readyPerson(person), hashesOf),
  }));
  const strong = fits.flatMap(({ personKey, fit }) =>
    fit.strength === 'strong' ? [{ personKey, evidence: fit.evidence }] : [],
  );
  if (strong.length > 1) return { kind: 'none', reason: 'more than one known person fits' };
  if (strong[0]) return { kind: 'match', ...strong[0] };
  const doubt = fits.flatMap(({ fit }) => (fit.strength === 'none' ? [fit.reason] : []))[0];
  return { kind: 'none', reason: doubt ?? 'only name and employer agree with a known person' };
}

/**
 * Why the newest cells of a contact contradict its person; undefined if they do not.
 *
 * A contact with the person's name stays that person when its address or employer changes. A contact with another name,
 * or without a name and with none of the person's identifiers, is another person.
 */
export function contradictionOf(cells: Identity, person: Person, hashesOf: EmailHashes): string | undefined {
  const row = readyIdentity(cells);
  const candidate = readyPerson(person);
  const fit = weigh(row, candidate, hashesOf);
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

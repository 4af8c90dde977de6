import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { alignMatches, withoutContested } from '../../src/domain/identity/alignment.ts';
import { identityKeys } from '../../src/domain/identity/identity-keys.ts';
import {
  isWeak,
  readyIdentity,
  readyPerson,
  weigh,
  type Evidence,
} from '../../src/domain/identity/identity-evidence.ts';
import { matchKnown } from '../../src/domain/identity/contact-validity.ts';
import { hasRival } from '../../src/domain/identity/rivals.ts';
import type { Person } from '../../src/domain/identity/person.ts';
import { emailHashes } from '../../src/people/email-hashes.ts';
import { identityWorld, type IdentityWorld, type WorldRow } from '../helpers/identity-world.ts';

const cases = Number(process.env['IDENTITY_CASES'] ?? 200);

/** Numbers by which exports, rows, batches and answers are ordered. */
const order = fc.array(fc.nat({ max: 1_000 }), { minLength: 24, maxLength: 24 });

function shuffled<Value>(values: readonly Value[], numbers: readonly number[], salt: number): Value[] {
  return values
    .map((value, index) => ({
      value,
      key: (numbers[(index + salt) % numbers.length]! * 7919 + index * 31) % 1_009,
    }))
    .toSorted((one, other) => one.key - other.key)
    .map(({ value }) => value);
}

interface Accepted {
  readonly row: WorldRow;
  readonly person: Person;
  readonly evidence: Evidence;
}

/**
 * Whether only the person whom the service finds for this very row fits it, of all who come. Somebody who comes for
 * another row is seen only in the call of that row.
 */
function isOwnAnswer(world: IdentityWorld, { row, person }: Accepted): boolean {
  const isPerson = (each: Person): boolean => world.humanOf(each) === world.humanOf(person);
  const others = world.rows.flatMap(({ identity }) => world.answer(identity));
  const weighed = readyIdentity(row.identity);
  return (
    world.answer(row.identity).some((each) => each !== null && isPerson(each)) &&
    others.every(
      (each) => !each || isPerson(each) || weigh(weighed, readyPerson(each), emailHashes).strength === 'none',
    )
  );
}

/** The rows whom a run asks for: of those that share a key, the first. */
function withoutRepeated(rows: readonly WorldRow[]): WorldRow[] {
  const taken = new Set<string>();
  return rows.filter(({ identity }) => {
    const keys = identityKeys(identity);
    const isNew = keys.every((key) => !taken.has(key));
    for (const key of keys) taken.add(key);
    return isNew;
  });
}

/**
 * Plays the exports of a world one after another, each in calls of some rows, as the runs of the product do. At the
 * end all exports come once more: contacts that are shown to be a known person get that person without a call.
 */
function play(world: IdentityWorld, numbers: readonly number[]): Accepted[] {
  const sources = shuffled([...new Set(world.rows.map(({ source }) => source))], numbers, 0);
  const known: WorldRow[] = [];
  let accepted: Accepted[] = [];
  for (const source of sources) {
    const staged = world.rows.filter((row) => row.source === source);
    known.push(...staged);
    const rows = shuffled(withoutRepeated(staged), numbers, 3);
    const isContested = ({ row, person, evidence }: Accepted): boolean =>
      isWeak(evidence) &&
      hasRival(
        person,
        readyIdentity(row.identity),
        known.filter((other) => other !== row).map(({ identity }) => readyIdentity(identity)),
        emailHashes,
      );
    accepted = accepted.filter((each) => !isContested(each));
    for (let at = 0, size = 1; at < rows.length; at += size) {
      size = 1 + (numbers[at % numbers.length]! % 4);
      const batch = rows.slice(at, at + size);
      const matches = shuffled(
        batch.flatMap(({ identity }) => world.answer(identity)),
        numbers,
        at,
      ).filter((person) => person !== null || numbers[at]! % 2 === 0);
      const aligned = alignMatches(
        batch.map(({ identity }) => identity),
        matches,
        emailHashes,
      );
      const found = aligned.rows.flatMap((row, index): (Accepted & { index: number })[] =>
        row.outcome === 'enriched' ? [{ ...row, row: batch[index]!, index }] : [],
      );
      const contested = new Set(found.filter(isContested).map(({ index }) => index));
      const left = withoutContested(aligned, contested);
      accepted.push(...found.filter(({ index }) => left.rows[index]!.outcome === 'enriched'));
    }
  }
  const people = new Map(accepted.flatMap(({ person }) => (person.id ? [[person.id, person] as const] : [])));
  const paidFor = [...people].map(([personKey, person]) => ({ personKey, person }));
  const open = world.rows.filter((row) => accepted.every((each) => each.row !== row));
  const filled = open.flatMap((row): Accepted[] => {
    const match = matchKnown(row.identity, paidFor, emailHashes);
    return match.kind === 'match' ? [{ ...match, row, person: people.get(match.personKey)! }] : [];
  });
  return [...accepted, ...filled];
}

describe('identity across calls', () => {
  it(
    'gives no contact another person’s data, and the same pairs in whatever order and batches rows are asked',
    { timeout: 3_600_000 },
    () => {
      let pairs = 0;
      fc.assert(
        fc.property(identityWorld, order, order, (world, one, other) => {
          const accepted = play(world, one);
          const wrong = accepted.filter(({ row, person }) => world.humanOf(person) !== row.human);
          expect(wrong).toEqual([]);
          const pairsOf = (found: readonly Accepted[]): string[] =>
            found
              .filter((each) => isOwnAnswer(world, each))
              .map(({ row, person }) => `${row.contactId} ${world.humanOf(person)}`)
              .sort();
          pairs += accepted.length;
          expect(pairsOf(play(world, other))).toEqual(pairsOf(accepted));
        }),
        { numRuns: cases },
      );
      expect(pairs).toBeGreaterThan(cases / 2);
    },
  );
});

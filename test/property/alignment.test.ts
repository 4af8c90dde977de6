import fc from 'fast-check';
import { expect, it } from 'vitest';
import { alignCall } from '../helpers/invented/align-call.ts';
import type { Identity } from '../../src/domain/identity/identity.ts';
import type { Person } from '../../src/domain/identity/person.ts';
import { bulkAnswer } from '../helpers/servers/test-client.ts';

/** The suite draws few cases; `npm run property:answers` draws more. */
const numRuns = Number(process.env['ANSWER_CASES'] ?? 100);

/** Few names, employers and e-mails, so that namesakes, colleagues and shared e-mails are the rule. */
const first = fc.constantFrom('Ada', 'Ben', 'Cleo', 'Ana María');
const last = fc.constantFrom('Novak', 'Okoro', "O'Neil", 'Marsh-Lang');
const company = fc.constantFrom('Orbit', 'Fjord & Sons', 'Globex Ltd');
const email = fc.constantFrom(
  'a@orbit.example',
  'b@fjord.example',
  'c@gmail.com',
  'd@gmail.com',
  'info@orbit.example',
);

const identity: fc.Arbitrary<Identity> = fc.record(
  { firstName: first, lastName: last, organizationName: company, email },
  { requiredKeys: ['firstName', 'lastName'] },
);
const person: fc.Arbitrary<Person> = fc.record({
  id: fc.constant(''),
  first_name: first,
  last_name: last,
  email: fc.option(email),
  organization: fc.option(fc.record({ name: company })),
});
const asked = fc.array(identity, { minLength: 1, maxLength: 10 });
/** Each person has an id of its own, because the digest withholds people of one id with different names. */
const matches = fc
  .array(fc.option(person), { maxLength: 12 })
  .map((people) => people.map((each, index): Person | null => each && { ...each, id: String(index) }));

it('for any answer, each row gets one outcome, and each person is assigned or quarantined', () => {
  fc.assert(
    fc.property(asked, matches, (rows, people) => {
      const alignment = alignCall(rows, people);
      expect(alignment.rows).toHaveLength(rows.length);
      const given = new Set(
        alignment.rows.flatMap((row) => (row.outcome === 'enriched' ? [row.person.id] : [])),
      );
      const quarantined = new Set(alignment.quarantined.map(({ matchIndex }) => matchIndex));
      for (const [index, each] of people.entries()) {
        if (each) expect(quarantined.has(index) || given.has(each.id)).toBe(true);
      }
    }),
  );
});

it('no answer assigns a row a person with another first name', () => {
  fc.assert(
    fc.property(asked, matches, (rows, people) => {
      for (const [index, row] of alignCall(rows, people).rows.entries()) {
        if (row.outcome !== 'enriched') continue;
        const own = rows[index]!;
        expect(row.person.first_name).toBe(own.firstName);
      }
    }),
  );
});

it('the order of people in an answer does not change which people are accepted', () => {
  fc.assert(
    fc.property(asked, matches, fc.infiniteStream(fc.nat()), (rows, people, random) => {
      const shuffled = [...people];
      for (let index = shuffled.length - 1; index > 0; index -= 1) {
        const other = (random.next().value as number) % (index + 1);
        [shuffled[index], shuffled[other]] = [shuffled[other]!, shuffled[index]!];
      }
      const byEvidence = (alignment: ReturnType<typeof alignCall>) =>
        alignment.rows.map((row) => (row.outcome === 'enriched' ? row.person.id : undefined));
      expect(byEvidence(alignCall(rows, shuffled))).toEqual(byEvidence(alignCall(rows, people)));
    }),
  );
});

/** Twenty people, each with an own e-mail and id. Most have a namesake, some at the same employer. */
const known = Array.from({ length: 20 }, (_, number) => {
  const firstName = ['Ada', 'Ben'][number % 2]!;
  const lastName = ['Novak', 'Okoro'][(number >> 3) & 1]!;
  const domain = `${['orbit', 'fjord', 'globex'][number % 3]!}.example`;
  return {
    identity: { firstName, lastName, email: `${firstName}.${lastName}${number}@${domain}`.toLowerCase() },
    person: {
      id: `p${number}`,
      first_name: firstName,
      last_name: lastName,
      email: `${firstName}.${lastName}${number}@${domain}`.toLowerCase(),
      organization: { primary_domain: domain },
    },
  };
});

const kept = fc.record({
  number: fc.nat({ max: known.length - 1 }),
  comes: fc.constantFrom('whole', 'whole', 'without address', 'null', 'dropped', 'twice'),
  place: fc.nat(),
});
const scenario = fc.record({
  asked: fc.uniqueArray(kept, { selector: ({ number }) => number, minLength: 1, maxLength: 10 }),
  strangers: fc.uniqueArray(fc.nat({ max: known.length - 1 }), { maxLength: 5 }),
});

it('reordered, dropped or added people in a correct answer never give a row another person', () => {
  fc.assert(
    fc.property(scenario, ({ asked: those, strangers }) => {
      const rows = those.map(({ number }) => known[number]!.identity);
      const foreign = strangers.filter((number) => those.every((each) => each.number !== number));
      const answer = [
        ...those.flatMap(({ number, comes, place }) => {
          const { person: own } = known[number]!;
          const elements: Record<typeof comes, (Person | null)[]> = {
            whole: [own],
            'without address': [{ ...own, email: null }],
            null: [null],
            dropped: [],
            twice: [own, own],
          };
          return elements[comes].map((element) => ({ element, place }));
        }),
        ...foreign.map((number) => ({ element: known[number]!.person, place: number * 7 })),
      ]
        .toSorted((one, other) => one.place - other.place)
        .map(({ element }) => element);

      for (const [index, row] of alignCall(rows, answer).rows.entries()) {
        const { number, comes } = those[index]!;
        const arrived = row.outcome === 'enriched' ? row.person.id : undefined;
        if (comes === 'whole' || comes === 'twice') expect(arrived).toBe(`p${number}`);
        else expect([undefined, `p${number}`]).toContain(arrived);
      }
    }),
    { numRuns },
  );
});

const domain = fc.constantFrom('orbit.example', 'orbit.test', 'fjord.example');
const row: fc.Arbitrary<Identity> = fc.record(
  {
    firstName: fc.constant('Ada'),
    lastName: fc.constant('Novak'),
    organizationName: company,
    domain,
    email,
  },
  { requiredKeys: ['firstName', 'lastName'] },
);
const wire = fc.record({
  id: fc.constant('1'),
  first_name: fc.constant('Ada'),
  last_name: fc.constant('Novak'),
  email: fc.option(email),
  personal_emails: fc.option(fc.array(email, { maxLength: 2 })),
  organization: fc.option(fc.record({ name: company, primary_domain: fc.option(domain) })),
  contact: fc.option(
    fc.record({
      email: fc.option(email),
      organization_name: fc.option(company),
      contact_emails: fc.constant([]),
    }),
  ),
  employment_history: fc.array(fc.record({ organization_name: company }), { maxLength: 2 }),
});
const path = fc.constantFrom(
  ...'id first_name email personal_emails organization organization.name organization.primary_domain'.split(
    ' ',
  ),
  ...'contact contact.email contact.organization_name employment_history'.split(' '),
);

/** Replaces the field at the path in a person, if the field has a value. */
function replaced(whole: object, [member = '', ...rest]: readonly string[], value: unknown): object {
  const own = (whole as Readonly<Record<string, unknown>>)[member];
  if (own === null || own === undefined) return whole;
  return { ...whole, [member]: rest.length === 0 ? value : replaced(own, rest, value) };
}

function isAccepted(own: Identity, whole: object): boolean {
  const { matches: read } = bulkAnswer({ matches: [whole], credits_consumed: 1 });
  return alignCall([own], read).rows[0]!.outcome === 'enriched';
}

it('a field of the wrong type never makes a row accept a person that it refuses with a correct field', () => {
  fc.assert(
    fc.property(row, wire, path, fc.constantFrom(7, true, [7]), (own, whole, at, value) => {
      const damaged = replaced(whole, at.split('.'), value);
      expect(isAccepted(own, damaged) && !isAccepted(own, whole)).toBe(false);
    }),
    { numRuns },
  );
});

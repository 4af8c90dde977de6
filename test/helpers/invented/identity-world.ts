import fc from 'fast-check';
import type { Identity } from '../../../src/domain/identity/identity.ts';
import type { Person } from '../../../src/domain/identity/person.ts';

/** A contact of an export, and its true human. */
export interface WorldRow {
  readonly source: string;
  readonly contactId: string;
  readonly human: number;
  readonly identity: Identity;
}

/**
 * The service's answer for the row of a call: the person whom it finds, and a person whom it adds.
 *
 */
export type WorldAnswer = (asked: WorldRow) => (Person | null)[];

/**
 * A few people with the same names, relatives with one address, reassigned addresses, wrong profiles, ids in some
 * answers only and job changes, and the exports that name them.
 */
export interface IdentityWorld {
  readonly rows: readonly WorldRow[];
  readonly answer: WorldAnswer;
  /** The true human of a person of an answer. */
  readonly humanOf: (person: Person) => number;
  /**
   * Whether exports and answers suffice to distinguish each row from other people. If not, the rule can be wrong, but
   * gives the same result in every order.
   *
   * @param named everybody in the answers to the calls that were made
   */
  canBeTold(named: readonly Person[]): boolean;
}

const employers = ['Orbit', 'Fjord'];
const domainOf = (employer: number): string => `${employers[employer]!.toLowerCase()}.example`;

const human = fc.record({
  first: fc.constantFrom('Ada', 'Ben', 'Cleo'),
  last: fc.constantFrom('Novak', 'Okoro'),
  employer: fc.nat(1),
  /** The export has the previous employer. */
  hasMoved: fc.boolean(),
  hasProfile: fc.boolean(),
  hasId: fc.nat(5).map((number) => number > 0),
  home: fc.constantFrom('own', 'family', 'none'),
  /** The service gives a placeholder instead of the work address. */
  isAddressHidden: fc.boolean(),
  /** The address belonged to the previous human. */
  hasRecycledAddress: fc.boolean(),
  /** Another human whom the service returns as well; often a namesake. */
  companion: fc.option(fc.nat(), { freq: 2 }),
});

const sources = ['one', 'two', 'three'] as const;

const row = fc.record({
  human: fc.nat(),
  source: fc.constantFrom(...sources),
  address: fc.constantFrom('work', 'former', 'home', 'none'),
  hasProfile: fc.boolean(),
  /** The row has the profile of another human. */
  wrongProfile: fc.option(fc.nat(), { freq: 5 }),
  hasName: fc.boolean(),
  hasInitial: fc.boolean(),
});

type Human = typeof human extends fc.Arbitrary<infer Value> ? Value : never;
type Row = typeof row extends fc.Arbitrary<infer Value> ? Value : never;

export const identityWorld: fc.Arbitrary<IdentityWorld> = fc
  .tuple(
    fc.array(human, { minLength: 2, maxLength: 6 }),
    fc.array(row, { minLength: 2, maxLength: 10 }),
    // Answers for the rows of this source have no ids. So the order does not decide which people have ids.
    fc.option(fc.constantFrom(...sources), { freq: 1 }),
  )
  .map(([humans, rows, withoutIds]) => worldOf(humans, rows, withoutIds));

function worldOf(humans: readonly Human[], shapes: readonly Row[], withoutIds: string | null): IdentityWorld {
  const all = [...humans.keys()];
  const namesakesOf = (at: number): number[] =>
    all.filter(
      (other) =>
        other !== at &&
        humans[other]!.first === humans[at]!.first &&
        humans[other]!.last === humans[at]!.last,
    );

  const workOf = (at: number): string => {
    const { first, employer } = humans[at]!;
    return `${first}${at}@${domainOf(employer)}`.toLowerCase();
  };
  const formerOf = (at: number): string => `former${at}@${domainOf(1 - humans[at]!.employer)}`;
  const homeOf = (at: number): string | undefined => {
    const { home, last } = humans[at]!;
    if (home === 'none') return undefined;
    return home === 'own' ? `own${at}@home.example` : `${last}@home.example`.toLowerCase();
  };
  const profileOf = (at: number): string | undefined =>
    humans[at]!.hasProfile ? `linkedin.com/in/human-${at}` : undefined;
  const addressesOf = (at: number): string[] => [
    workOf(at),
    ...(humans[at]!.hasRecycledAddress && at > 0 ? [formerOf(at - 1)] : []),
    ...(homeOf(at) === undefined ? [] : [homeOf(at)!]),
  ];

  const personOf = (at: number): Person => {
    const { first, last, employer, hasMoved, hasId, isAddressHidden } = humans[at]!;
    return {
      id: hasId ? `p${at}` : null,
      first_name: first,
      last_name: last,
      email: isAddressHidden ? 'email_not_unlocked@domain.com' : workOf(at),
      personal_emails: addressesOf(at).slice(1),
      proflink_url: profileOf(at) ?? null,
      title: `human ${at}`,
      organization: { name: employers[employer]!, primary_domain: domainOf(employer) },
      employment_history: hasMoved ? [{ organization_name: employers[1 - employer]!, current: false }] : [],
    };
  };
  const foundBy = (asked: Identity): number | undefined =>
    all.find((at) => asked.profileUrl !== undefined && profileOf(at) === asked.profileUrl) ??
    all.find((at) => asked.email !== undefined && addressesOf(at).includes(asked.email)) ??
    // The service finds any one of several namesakes.
    all.findLast(
      (at) => humans[at]!.last === asked.lastName && humans[at]!.first.startsWith(asked.firstName ?? '-'),
    );
  const answer: WorldAnswer = ({ identity, source }) => {
    const found = foundBy(identity);
    if (found === undefined) return [null];
    const { companion } = humans[found]!;
    return [found, ...(companion === null ? [] : [companion % humans.length])].map((at) => ({
      ...personOf(at),
      ...(source === withoutIds && { id: null }),
    }));
  };

  const rows = shapes.map((shape, index): WorldRow => {
    const at = shape.human % humans.length;
    const { first, last, employer, hasMoved } = humans[at]!;
    const email = { work: workOf(at), former: formerOf(at), home: homeOf(at), none: undefined }[
      shape.address
    ];
    const profile = shape.wrongProfile === null ? at : shape.wrongProfile % humans.length;
    const profileUrl = shape.hasProfile ? profileOf(profile) : undefined;
    const isIdentified = email !== undefined || profileUrl !== undefined;
    const isNamed = shape.hasName || !isIdentified;
    return {
      source: shape.source,
      contactId: `c${index}`,
      human: at,
      identity: {
        ...(email !== undefined && { email }),
        ...(profileUrl !== undefined && { profileUrl }),
        ...(isNamed && {
          firstName: shape.hasInitial && isIdentified ? first[0]! : first,
          lastName: last,
          organizationName: employers[hasMoved ? 1 - employer : employer]!,
        }),
      },
    };
  });

  /** No identifier of the row leads to another human whom the name does not contradict; nor do two together. */
  const isOwnIdentifier = ({ human: at, identity: { email, profileUrl, lastName } }: WorldRow): boolean =>
    all.every((other) => {
      if (other === at) return true;
      const hasAddress = email !== undefined && addressesOf(other).includes(email);
      const hasProfile = profileUrl !== undefined && profileUrl === profileOf(other);
      const isContradicted = lastName !== undefined && humans[other]!.first !== humans[at]!.first;
      return isContradicted ? !(hasAddress && hasProfile) : !hasAddress && !hasProfile;
    });
  return {
    rows,
    answer,
    humanOf: ({ title }) => Number(title!.slice('human '.length)),
    // Nobody can distinguish people of one name if no answer shows that there are several. People without an id are
    // not remembered for other calls.
    canBeTold: (named) => {
      const titles = new Set(named.flatMap(({ id, title }) => (id ? [title] : [])));
      const isNamed = (at: number): boolean => titles.has(`human ${at}`);
      return rows.every(
        (each) => isOwnIdentifier(each) && [each.human, ...namesakesOf(each.human)].every(isNamed),
      );
    },
  };
}

import fc from 'fast-check';
import type { Identity } from '../../src/domain/identity/identity.ts';
import type { Person } from '../../src/domain/identity/person.ts';

/** A contact of an export, and who it truly is. */
export interface WorldRow {
  readonly source: string;
  readonly contactId: string;
  readonly human: number;
  readonly identity: Identity;
}

/** What the service says about one element of `details`: the person whom it finds, and strangers whom it adds. */
export type WorldAnswer = (asked: Identity) => (Person | null)[];

/**
 * A few people with homonyms, relatives at one address, recycled addresses and moves, and the exports that name them.
 */
export interface IdentityWorld {
  readonly rows: readonly WorldRow[];
  readonly answer: WorldAnswer;
  /** The human whom a person of an answer is. */
  readonly humanOf: (person: Person) => number;
}

const employers = ['Orbit', 'Fjord'];
const domainOf = (employer: number): string => `${employers[employer]!.toLowerCase()}.example`;

const human = fc.record({
  first: fc.constantFrom('Ada', 'Ben', 'Cleo'),
  last: fc.constantFrom('Novak', 'Okoro'),
  employer: fc.nat(1),
  /** The export knows the employer before this one. */
  hasMoved: fc.boolean(),
  hasProfile: fc.boolean(),
  hasId: fc.boolean(),
  home: fc.constantFrom('own', 'family', 'none'),
  /** The service shows a placeholder in place of the work address. */
  isAddressHidden: fc.boolean(),
  /** Their address was that of the human before them. */
  hasRecycledAddress: fc.boolean(),
  comesWithStranger: fc.boolean(),
});

/** Of nobody's name. */
const stranger: Person = { id: 'p99', first_name: 'Zoe', last_name: 'Quist', title: 'human 99' };

const row = fc.record({
  human: fc.nat(),
  source: fc.constantFrom('one', 'two', 'three'),
  address: fc.constantFrom('work', 'former', 'home', 'none'),
  hasProfile: fc.boolean(),
  hasName: fc.boolean(),
  hasInitial: fc.boolean(),
});

type Human = typeof human extends fc.Arbitrary<infer Value> ? Value : never;
type Row = typeof row extends fc.Arbitrary<infer Value> ? Value : never;

export const identityWorld: fc.Arbitrary<IdentityWorld> = fc
  .tuple(fc.array(human, { minLength: 2, maxLength: 6 }), fc.array(row, { minLength: 2, maxLength: 10 }))
  .map(([humans, rows]) => worldOf(humans, rows));

function worldOf(humans: readonly Human[], shapes: readonly Row[]): IdentityWorld {
  const all = [...humans.keys()];
  const namesakesOf = (at: number): number[] =>
    all.filter(
      (other) => humans[other]!.first === humans[at]!.first && humans[other]!.last === humans[at]!.last,
    );

  const workOf = (at: number): string => {
    const { first, employer } = humans[at]!;
    return `${first}${at}@${domainOf(employer)}`.toLowerCase();
  };
  const formerOf = (at: number): string => `former${at}@${domainOf(1 - humans[at]!.employer)}`;
  const homeOf = (at: number): string | undefined => {
    const { home, last } = humans[at]!;
    if (home === 'none') return undefined;
    // Two of one name at one address could be told apart by nothing.
    return home === 'own' || namesakesOf(at).length > 1
      ? `own${at}@home.example`
      : `${last}@home.example`.toLowerCase();
  };
  const profileOf = (at: number): string | undefined =>
    humans[at]!.hasProfile ? `linkedin.com/in/human-${at}` : undefined;
  /** Whose former address a human has now: one of another first name, or the two could be told apart by nothing. */
  const recycledBy = (at: number): string[] => {
    const before = at - 1;
    const isOther = before >= 0 && humans[before]!.first !== humans[at]!.first;
    return humans[at]!.hasRecycledAddress && isOther ? [formerOf(before)] : [];
  };
  const addressesOf = (at: number): string[] => [
    workOf(at),
    ...recycledBy(at),
    ...(homeOf(at) === undefined ? [] : [homeOf(at)!]),
  ];

  const personOf = (at: number): Person => {
    const { first, last, employer, hasMoved, hasId, isAddressHidden, home } = humans[at]!;
    return {
      // Asked with a shared address, the service finds any of the family; who comes for another row is known by an id.
      id: hasId || home === 'family' ? `p${at}` : null,
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
  const isFoundByIdentifier = (at: number, { email, profileUrl }: Identity): boolean =>
    profileUrl !== undefined || (email !== undefined && addressesOf(at).includes(email));

  /** Whether a row makes its human known as one of several of their name at their employer. */
  const isTold = ({ human: at, identity }: WorldRow): boolean =>
    identity.lastName !== undefined &&
    identity.organizationName !== undefined &&
    isFoundByIdentifier(at, identity);

  const rows: WorldRow[] = [];
  for (const [index, shape] of shapes.entries()) {
    const at = shape.human % humans.length;
    const { first, last, employer, hasMoved } = humans[at]!;
    const address = { work: workOf(at), former: formerOf(at), home: homeOf(at), none: undefined }[
      shape.address
    ];
    const profileUrl = shape.hasProfile ? profileOf(at) : undefined;
    const isIdentified = address !== undefined || profileUrl !== undefined;
    // A row without a name is anybody's by an address of several people, of another one by now, or that nobody shows.
    const isTellingAddress = shape.address === 'work' && !humans[at]!.isAddressHidden;
    const namesOne = isTellingAddress || (shape.address === 'none' && profileUrl !== undefined);
    const isNamed = shape.hasName || !namesOne;
    const identity: Identity = {
      ...(address !== undefined && { email: address }),
      ...(profileUrl !== undefined && { profileUrl }),
      ...(isNamed && { firstName: shape.hasInitial && isIdentified ? first[0]! : first, lastName: last }),
      ...(isNamed && {
        organizationName: employers[hasMoved ? 1 - employer : employer]!,
      }),
    };
    rows.push({ source: shape.source, contactId: `c${index}`, human: at, identity });
  }
  return {
    // A namesake of whom no export says name and employer is known to nobody.
    rows: rows.filter(
      ({ identity, human: at }) =>
        isFoundByIdentifier(at, identity) ||
        namesakesOf(at).every(
          (other) => other === at || rows.some((each) => each.human === other && isTold(each)),
        ),
    ),
    answer: (asked) => {
      const found =
        all.find((at) => asked.profileUrl !== undefined && profileOf(at) === asked.profileUrl) ??
        all.find((at) => asked.email !== undefined && addressesOf(at).includes(asked.email)) ??
        // Of namesakes, the service finds any.
        all.findLast(
          (at) => humans[at]!.last === asked.lastName && humans[at]!.first.startsWith(asked.firstName ?? '-'),
        );
      if (found === undefined) return [null];
      return humans[found]!.comesWithStranger ? [personOf(found), stranger] : [personOf(found)];
    },
    humanOf: ({ title }) => Number(title!.slice('human '.length)),
  };
}

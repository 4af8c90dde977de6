import fc from 'fast-check';
import type { LateExtras } from '../warehouse/late-calls.ts';

/** One kind of results of one person. */
interface Result {
  readonly kind: 'phone' | 'emails' | 'phone_numbers';
  /** Index among the three requested people. */
  readonly person: number;
  /** Whether a vendor or the service has a value. */
  readonly isKnown: boolean;
  readonly credits: number;
}

/** A body with results that the service bills, or repeats. */
export interface HonestBody {
  readonly results: readonly Result[];
  readonly targetFields: readonly string[] | undefined;
  readonly missing: number | undefined;
}

/** A body that is sent to a call: an honest one, or noise that must change nothing. */
export type Sent = {
  readonly by: 'webhook' | 'poll';
  readonly spaces: number;
} & ({ readonly body: HonestBody; readonly isPriced: boolean } | { readonly noise: Noise });

const noises = ['html', 'cut', 'nothing', 'nobody', 'nobody-priced', 'stranger', 'incredible'] as const;
export type Noise = (typeof noises)[number];

/** The late results of one call: all bodies and their cost. */
export interface LateCase {
  readonly extras: LateExtras;
  /** Found people. */
  readonly found: readonly (0 | 1)[];
  /** Found people whom the answer lists. */
  readonly listed: readonly (0 | 1)[];
  /** Credits that the answer states; null: none. */
  readonly answered: number | null;
  readonly sent: readonly Sent[];
  /** Number of bodies that come before the answer. */
  readonly early: number;
  /** Index of the first body after the deadline. */
  readonly deadlineAt: number;
  /** Total credits that the service bills. */
  readonly bill: number;
}

const allExtras: readonly LateExtras[] = [
  { reveal: ['phone'], waterfall: [] },
  { reveal: [], waterfall: ['email', 'phone'] },
  { reveal: [], waterfall: ['phone'] },
  { reveal: ['phone'], waterfall: ['email'] },
];

const bit = fc.constantFrom<0 | 1>(0, 1, 1);
const few = fc.nat({ max: 3 });

/** Results in random parts, repeated parts and wholes, in any order, with bodies of other calls between them. */
export const lateCase: fc.Arbitrary<LateCase> = fc
  .record({
    extras: fc.constantFrom(...allExtras),
    found: fc.tuple(bit, bit, bit).filter((people) => people.includes(1)),
    hidden: fc.option(fc.nat({ max: 2 }), { freq: 5 }),
    saysPrice: fc.boolean(),
    // By kind and person: whether a value exists, its cost, and the part that has it.
    facts: fc.array(fc.record({ isKnown: fc.boolean(), price: few, part: few }), {
      minLength: 9,
      maxLength: 9,
    }),
    says: fc.array(fc.record({ target: few, missing: few }), { minLength: 4, maxLength: 4 }),
    whole: fc.boolean(),
    joined: fc.boolean(),
  })
  .map(({ extras, found, hidden, saysPrice, facts, says, whole, joined }) => {
    const kinds = [
      ...(extras.reveal.length > 0 ? (['phone'] as const) : []),
      ...(extras.waterfall.includes('email') ? (['emails'] as const) : []),
      ...(extras.waterfall.includes('phone') ? (['phone_numbers'] as const) : []),
    ];
    const people = [0, 1, 2].filter((person) => found[person]);
    const answered = extras.waterfall.length > 0 && !saysPrice ? null : people.length;
    const results = kinds.flatMap((kind, row) =>
      people.map((person) => {
        const { isKnown, price, part } = facts[row * 3 + person]!;
        const credits = !isKnown ? 0 : kind === 'phone' ? 8 * (price % 2) : price;
        return { result: { kind, person, isKnown, credits }, part };
      }),
    );
    const bodies: HonestBody[] = [];
    for (const isNative of [true, false]) {
      const own = results.filter(({ result }) => (result.kind === 'phone') === isNative);
      const parts = [0, 1, 2, 3]
        .map((part) => own.filter((each) => each.part === part).map(({ result }) => result))
        .filter((each) => each.length > 0);
      const wholes = [
        ...(joined && parts.length > 2 ? [[...parts[0]!, ...parts[1]!]] : []),
        ...(whole && parts.length > 1 ? [parts.flat()] : []),
      ];
      for (const [index, part] of [...parts, ...wholes].entries()) {
        const { target, missing } = says[index % 4]!;
        const fields = isNative ? [] : [...new Set(part.map(({ kind }) => kind))];
        bodies.push({
          results: part,
          targetFields: [undefined, fields, kinds.filter((kind) => kind !== 'phone'), fields][target],
          missing: [undefined, 0, 3 - new Set(part.map(({ person }) => person)).size, 30][missing],
        });
      }
    }
    const lateBill = results.reduce((sum, { result }) => sum + result.credits, 0);
    // An answer without a price must list all people: nothing else shows the unlisted ones.
    const listed = found.map((is, person) => (is && (person !== hidden || answered === null) ? 1 : 0));
    return { extras, found, listed, answered, bodies, bill: (answered ?? 0) + lateBill };
  })
  .chain(({ bodies, ...call }) => {
    const isWholeListed = call.listed.every((is, person) => is === call.found[person]);
    const honest = fc.record({
      by: fc.constantFrom('webhook' as const, 'webhook' as const, 'poll' as const),
      spaces: few,
    });
    const again = fc.record({
      by: fc.constantFrom('webhook' as const, 'poll' as const),
      spaces: few,
      body: fc.constantFrom(...bodies),
      isPriced: fc.boolean(),
    });
    const noise = fc.record({
      by: fc.constantFrom('webhook' as const, 'poll' as const),
      spaces: few,
      // A stranger cannot be distinguished from a person whom the answer does not list.
      noise: fc.constantFrom(...noises.filter((each) => isWholeListed || each !== 'stranger')),
    });
    return fc
      .tuple(
        fc.tuple(...bodies.map(() => honest)),
        fc.array(again, { maxLength: 3 }),
        fc.array(noise, { maxLength: 3 }),
        fc.nat({ max: 2 }),
        fc.nat({ max: 12 }),
      )
      .chain(([ways, copies, others, early, deadlineAt]) => {
        const first: Sent[] = bodies.map((body, index) => ({ ...ways[index]!, body, isPriced: true }));
        const all: Sent[] = [...first, ...copies, ...others];
        return fc
          .shuffledSubarray(all, { minLength: all.length, maxLength: all.length })
          .map((sent): LateCase => ({ ...call, sent, early, deadlineAt }));
      });
  });

import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { fold, type Observation } from '../../../src/people/fold.ts';
import { observedPerson } from '../../helpers/invented/observed-people.ts';

const people = { numRuns: 500 };

/** Observations with the given facts, each asked and recorded after the one before. */
function observed(...facts: readonly Observation['facts'][]): Observation[] {
  return facts.map((each, index) => ({
    observationId: index + 1,
    askedAt: index * 1_000_000,
    recordedAt: index * 1_000_000,
    runId: 'run',
    attemptId: `attempt-${index}`,
    organizationKey: each['organization_name'] ? 'id:1' : null,
    facts: each,
  }));
}

describe('fold()', () => {
  it('does not depend on the order of the observations', () => {
    const shuffled = observedPerson.chain((all) =>
      fc.tuple(fc.constant(all), fc.shuffledSubarray([...all], { minLength: all.length })),
    );
    fc.assert(
      fc.property(shuffled, ([all, others]) => {
        expect(fold(others)).toEqual(fold(all));
      }),
      people,
    );
  });

  it('computes the same values when observations are repeated', () => {
    fc.assert(
      fc.property(observedPerson, (all) => {
        expect(fold([...all, ...all])).toEqual(fold(all));
      }),
      people,
    );
  });

  it('has for every moment the value that the observations recorded until then said', () => {
    fc.assert(
      fc.property(observedPerson, (all) => {
        const { groups, history, validFrom } = fold(all);
        for (const { recordedAt: moment } of all) {
          const then = fold(all.filter(({ recordedAt }) => recordedAt <= moment));
          for (const [group, since] of then.validFrom) {
            const { value, observationId } = then.groups.get(group)!;
            const closed = history.filter(
              (each) => each.group === group && each.validFrom <= moment && moment < each.validTo,
            );
            const isOpen = validFrom.has(group) && validFrom.get(group)! <= moment;
            const open = { ...groups.get(group)!, validFrom: validFrom.get(group)! };
            const found = [...closed, ...(isOpen ? [open] : [])];
            expect(found).toMatchObject([{ value, observationId, validFrom: since }]);
            expect(found).toHaveLength(1);
          }
        }
      }),
      people,
    );
  });

  it('has intervals of a group that do not overlap and end before the current value begins', () => {
    fc.assert(
      fc.property(observedPerson, (all) => {
        const { history, validFrom } = fold(all);
        for (const group of new Set(history.map((each) => each.group))) {
          const own = history.filter((each) => each.group === group);
          const next = [...own.slice(1).map((each) => each.validFrom), validFrom.get(group) ?? Infinity];
          for (const [index, each] of own.entries()) {
            expect(each.validFrom).toBeLessThan(each.validTo);
            expect(each.validTo).toBeLessThanOrEqual(next[index]!);
          }
        }
      }),
      people,
    );
  });

  it('orders e-mails by their positions as numbers', () => {
    const emails = Array.from({ length: 12 }, (_, position) => ({
      email: `${12 - position}@post.example`,
      kind: 'personal',
      position,
    }));
    expect(fold(observed({ emails })).emails.map((each) => each['position'])).toEqual([...emails.keys()]);
  });

  it('keeps fields of the employer that a newer answer about the same company leaves empty', () => {
    const { groups, history } = fold(
      observed(
        { organization_name: { organization_name: 'Orbit', organization_industry: 'space' } },
        { organization_name: { organization_name: 'Orbit Ltd' } },
      ),
    );
    const value = { organization_name: 'Orbit Ltd', organization_industry: 'space' };
    expect(groups.get('organization_name')).toEqual({ value, observationId: 2 });
    expect(history).toMatchObject([{ group: 'organization_name', validFrom: 0, validTo: 1_000_000 }]);
  });

  it('leaves a person without a best phone when the newest request found only an invalid number', () => {
    const phone = { number: '+14155550100', status_rank: 0, e164_rank: 0, position: 0 };
    const invalid = { ...phone, number: '+14155550101', status_rank: null };
    const { groups, phones, history } = fold(observed({ phones: [phone] }, { phones: [invalid] }));
    expect(groups.has('phone')).toBe(false);
    expect(phones.map(({ number }) => number)).toEqual([phone.number, invalid.number]);
    expect(history).toMatchObject([{ group: 'phone', value: { phone: phone.number }, observationId: 1 }]);
  });

  it('throws for a person without observations', () => {
    expect(() => fold([])).toThrow('without observations');
  });
});

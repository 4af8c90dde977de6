import { expect, it } from 'vitest';
import { decidePerson } from '../../../src/domain/identity/decide-person.ts';
import {
  toComparedIdentity,
  toComparedPerson,
  type ComparedPerson,
} from '../../../src/domain/identity/identity-evidence.ts';
import type { Verdict } from '../../../src/domain/identity/verdicts.ts';

const row = toComparedIdentity({ email: 'ada@orbit.example', firstName: 'Ada', lastName: 'Novak' });
const person = toComparedPerson({
  id: 'p-1',
  first_name: 'Ada',
  last_name: 'Novak',
  email: 'ada@orbit.example',
});

it('decidePerson() does not read rows of other contacts if an identifier decides', () => {
  const others = () => {
    throw new Error('a common name has hundreds of them');
  };
  expect(decidePerson(row, { candidates: [{ person }], others, wasAsked: true })).toEqual({
    kind: 'person',
    index: 0,
    evidence: 'email',
  });
});

it('decidePerson() accepts a person without an id by e-mail, even if the row was never looked up', () => {
  const withoutId = toComparedPerson({ first_name: 'Ada', last_name: 'Novak', email: 'ada@orbit.example' });
  const of = { candidates: [{ person: withoutId }], others: () => [], wasAsked: false };
  expect(decidePerson(row, of)).toEqual({ kind: 'person', index: 0, evidence: 'email' });
});

const other = toComparedPerson({
  id: 'p-2',
  first_name: 'Ada',
  last_name: 'Novak',
  proflink_url: 'linkedin.com/in/ada',
});
const stranger = toComparedPerson({
  id: 'p-3',
  first_name: 'Ivo',
  last_name: 'Lind',
  email: 'ivo@orbit.example',
});
const decide = (people: readonly ComparedPerson[], verdicts: Readonly<Record<string, Verdict>>) =>
  decidePerson(row, {
    candidates: people.map((each) => ({ person: each })),
    others: () => [],
    wasAsked: false,
    verdicts: new Map(Object.entries(verdicts)),
  });

it('decidePerson() prefers the person that the operator confirmed, even if the cells fit another person', () => {
  expect(decide([person, stranger], { 'person:p-3': 'confirmed' })).toEqual({
    kind: 'person',
    index: 1,
    evidence: 'confirmed',
  });
});

it('decidePerson() uses evidence if the person that the operator confirmed is not a candidate', () => {
  expect(decide([person], { 'person:p-9': 'confirmed' })).toMatchObject({ index: 0, evidence: 'email' });
});

it('decidePerson() does not assign a person that the operator rejected', () => {
  expect(decide([person], { 'person:p-1': 'rejected' })).toEqual({
    kind: 'none',
    reason: 'a decision says that the contact is not this person',
  });
});

it('decidePerson() assigns the second person who fits if the operator rejected the first', () => {
  const byProfile = toComparedIdentity({ ...row.identity, profileUrl: 'linkedin.com/in/ada' });
  const candidates = [{ person }, { person: other }];
  const of = { candidates, others: () => [], wasAsked: false };
  expect(decidePerson(byProfile, of)).toMatchObject({ kind: 'refused' });
  const verdicts = new Map([['person:p-1', 'rejected' as const]]);
  expect(decidePerson(byProfile, { ...of, verdicts })).toMatchObject({
    kind: 'person',
    index: 1,
  });
});

import { expect, it } from 'vitest';
import { decidePerson } from '../../../src/domain/identity/decide-person.ts';
import { readyIdentity, readyPerson } from '../../../src/domain/identity/identity-evidence.ts';

const row = readyIdentity({ email: 'ada@orbit.example', firstName: 'Ada', lastName: 'Novak' });
const person = readyPerson({ id: 'p-1', first_name: 'Ada', last_name: 'Novak', email: 'ada@orbit.example' });

it('decidePerson() does not ask for the rows of other contacts where an identifier decides', () => {
  const others = () => {
    throw new Error('a common name has hundreds of them');
  };
  expect(decidePerson(row, { candidates: [{ person }], others, wasAsked: true }, () => [])).toEqual({
    kind: 'person',
    index: 0,
    evidence: 'email',
  });
});

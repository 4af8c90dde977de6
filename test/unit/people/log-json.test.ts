import { expect, it } from 'vitest';
import { logJson } from '../../../src/people/log/append-to-log.ts';

const entry = (name: string, organization: Record<string, unknown> | null) => ({ name, organization });

it('logJson() has a company of several people once, under the hash that they have', () => {
  const { observations, organizations } = logJson([
    entry('Ada', { name: 'Orbit' }),
    entry('Bo', { name: 'Orbit' }),
    entry('Cy', { name: 'Fjord' }),
    entry('Di', null),
  ]);
  const [orbit, fjord] = JSON.parse(organizations);
  expect([orbit.facts, fjord.facts]).toEqual([{ name: 'Orbit' }, { name: 'Fjord' }]);
  expect(JSON.parse(observations)).toEqual([
    { name: 'Ada', organization_facts: orbit.hash },
    { name: 'Bo', organization_facts: orbit.hash },
    { name: 'Cy', organization_facts: fjord.hash },
    { name: 'Di', organization_facts: null },
  ]);
});

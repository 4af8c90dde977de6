import * as fc from 'fast-check';
import { expect, it } from 'vitest';
import { adviceOf } from '../../../src/service/failures/advice.ts';

const nothing = { texts: [], credential: [] };

it('the advice of the service has its steps in order, each with its subject', () => {
  const advice = adviceOf(
    [
      { label: 'Check the key', header: 'x-api-key' },
      { label: 'Send fewer people', parameter: 'details' },
      {},
    ],
    nothing,
  );
  expect(advice).toEqual(['Check the key (x-api-key)', 'Send fewer people (details)']);
});

it('the advice of the service mentions keys if a person’s name contains that word', () => {
  const sent = { texts: [], credential: ['sandbox-key'] };
  expect(adviceOf([{ label: 'Check the key' }], sent)).toEqual(['Check the key']);
});

it.each([
  ['the key', 'Key 9fA2kk31Zq is wrong'],
  ['a part of the key', 'Key 9fa2kk31zq… is wrong'],
  ['a name', 'There is no LINDQVIST'],
  ['an address', 'mira@nordlys.example is no address'],
  ['an address of somebody else', 'Ask owner@team.example'],
  ['a number', 'Call +46 8555501'],
])('the advice of the service leaves out a step that quotes %s', (_, label) => {
  const sent = {
    texts: ['Mira Lindqvist', 'mira@nordlys.example'],
    credential: ['9fA2kk31Zq'],
  };
  expect(adviceOf([{ label }], sent)).toEqual([]);
});

it('the advice of the service leaves out a parameter and a header that quote a person', () => {
  const quoting = { parameter: 'mira', header: 'mira' };
  const advice = adviceOf([{ label: 'Correct it', ...quoting }], { texts: ['Mira'], credential: [] });
  expect(advice).toEqual(['Correct it']);
});

it('the advice of the service never holds a sent text, whatever the service writes', () => {
  const text = fc.string({ minLength: 2 });
  fc.assert(
    fc.property(text, fc.string(), fc.string(), (secret, before, after) => {
      const quoted = `${before}${secret}${after}`;
      const step = { label: quoted, parameter: quoted, header: quoted };
      for (const sent of [
        { texts: [secret], credential: [] },
        { texts: [], credential: [secret] },
      ])
        expect(adviceOf([step], sent)).toEqual([]);
    }),
  );
});

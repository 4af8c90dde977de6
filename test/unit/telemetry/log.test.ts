import { expect, it } from 'vitest';
import { describeError } from '../../../src/telemetry/log.ts';

function thrownBy(work: () => unknown): unknown {
  try {
    return work();
  } catch (error) {
    return error;
  }
}

it.each([
  ['a text that is no JSON', thrownBy(() => JSON.parse('{"last_name": Novak}'))],
  ['a text that is no number', thrownBy(() => BigInt('Novak'))],
  [
    'a value that PostgreSQL refuses',
    Object.assign(new Error('invalid input syntax for type integer: "Novak"'), { code: '22P02' }),
  ],
])('describeError() leaves out a message that quotes a value: %s', (_, error) => {
  const described = describeError(error);
  expect(JSON.stringify(described)).not.toContain('Novak');
  expect(described).toMatchObject({ name: (error as Error).name, stack: expect.stringMatching(/^\s+at /) });
});

it('describeError() keeps a message that names the source of a fault', () => {
  const error = Object.assign(new Error('relation "people" does not exist'), { code: '42P01' });
  expect(describeError(error)).toMatchObject({
    code: '42P01',
    message: 'relation "people" does not exist',
  });
});

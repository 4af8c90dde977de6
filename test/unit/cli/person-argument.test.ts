import { expect, it } from 'vitest';
import { suppressionKeyOf } from '../../../src/cli/commands/privacy.ts';

it.each(['@gmail.com', ' @GMail.com', '@mail.yahoo.co.uk'])(
  'suppressionKeyOf() refuses the domain of a free-mail provider with the reason: %s',
  (text) => {
    expect(() => suppressionKeyOf(text, 1)).toThrow(
      expect.objectContaining({
        type: 'person.unclear',
        message: 'a free-mail provider cannot be suppressed as a domain',
        where: 'argument 2',
        next: 'write the email address of each person',
      }) as Error,
    );
  },
);

it.each(['Ada Novak', '@example', 'gmail.com'])(
  'suppressionKeyOf() refuses text that identifies no person: %s',
  (text) => {
    expect(() => suppressionKeyOf(text, 0)).toThrow('this identifies no person');
  },
);

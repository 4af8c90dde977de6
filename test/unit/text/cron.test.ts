import { describe, expect, it } from 'vitest';
import { cronMistake } from '../../../src/domain/text/cron.ts';

describe('a cron line', () => {
  it.each(['0 2 * * *', '*/15 1-5 * jan mon-fri', '0,30 22 1 * *', '0 2 * * 7', '@daily'])(
    'is taken: %s',
    (line) => expect(cronMistake(line)).toBeUndefined(),
  );

  it.each([
    ['0 2 * *', 'has 4 fields'],
    ['0 0 2 * * *', 'has 6 fields'],
    ['60 2 * * *', '"60" as the minute'],
    ['0 24 * * *', '"24" as the hour'],
    ['0 2 0 * *', '"0" as the day of the month'],
    ['0 2 * * mon-sonday', '"mon-sonday" as the day of the week'],
    ['5-1 2 * * *', '"5-1" as the minute'],
    ['*/0 2 * * *', '"*/0" as the minute'],
    ['@every 5m', 'has 2 fields'],
  ])('is refused with the field that is wrong: %s', (line, mistake) =>
    expect(cronMistake(line)).toContain(mistake),
  );

  it('is refused where cron and Temporal would read it otherwise: a day of the month and one of the week', () =>
    expect(cronMistake('0 2 1 * mon')).toContain('leave one of them *'));
});

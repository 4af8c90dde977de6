import { Command } from '../../../src/cli/terminal/command.ts';
import { expect, it } from 'vitest';
import {
  chosenOptions,
  flagsOfRun,
  scheduledOptions,
  withScheduleFlags,
} from '../../../src/cli/run/run-option-flags.ts';
import { requireValidMapping } from '../../../src/ingest/columns/mapping-file.ts';

it('repeated flags --reveal or --waterfall combine their fields', async () => {
  const words = ['--reveal', 'phone', '--reveal', 'email', '--waterfall', 'phone', '--waterfall', 'email'];
  const flags = withScheduleFlags(new Command()).parse(words, { from: 'user' }).opts();
  expect(await chosenOptions({ ...flags, maxCreditsPerPerson: '20' })).toMatchObject({
    reveal: ['email', 'phone'],
    waterfall: ['email', 'phone'],
  });
});

it.each([{ waterfall: 'email' }, { maxCreditsPerPerson: '20' }])(
  'chosenOptions() refuses --waterfall and --max-credits-per-person if one of them is missing: %o',
  async (flags) => {
    await expect(chosenOptions(flags)).rejects.toMatchObject({ type: 'credits.no-ceiling' });
  },
);

it.each(['fax', 'email,fax', ''])(
  'chosenOptions() refuses --reveal "%s" and lists the possible names',
  async (reveal) => {
    await expect(chosenOptions({ reveal })).rejects.toMatchObject({
      type: 'setting.invalid',
      where: '--reveal',
      next: 'write email, phone, or email,phone',
    });
  },
);

it.each(['ada.novak@orbit.example', 'crm/eu', ' crm', 'x'.repeat(64)])(
  '--source and a mapping file both refuse the source "%s"',
  async (source) => {
    await expect(chosenOptions({ source })).rejects.toMatchObject({
      type: 'setting.invalid',
      where: '--source',
    });
    expect(() => requireValidMapping({ source })).toThrow('short name');
  },
);

it('flagsOfRun() returns the flags of a schedule as the operator wrote them', async () => {
  const given = {
    source: 'hubspot',
    maxCredits: '500',
    onBudget: 'pause',
    minMatchRate: '40%',
    expect: 'usual',
    only: ['Stage=lead', 'Country=DE'],
    orderBy: 'Score desc',
    onUnknown: 'retry',
    freshness: 'enriched=90d,not_found=30d',
    reveal: 'email,phone',
    waterfall: 'phone',
    maxCreditsPerPerson: '20',
    lateDeadline: '12h',
  };
  const flagOf = (name: string): string => name.replaceAll(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`);
  const shown = Object.entries({ ...given, only: given.only.join('; ') });
  expect(flagsOfRun(await scheduledOptions(given))).toEqual(
    Object.fromEntries(shown.map(([name, text]) => [flagOf(name), text])),
  );
});

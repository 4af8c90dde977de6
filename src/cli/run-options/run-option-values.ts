import { extraNames, type ExtraNames } from '../../domain/late-results/delivery-kinds.ts';
import { formatCredits, parseCredits } from '../../domain/money/decimal.ts';
import { describingColumn } from '../../ingest/columns/chosen-column.ts';
import { UsageProblem, type Problem } from '../../domain/problem.ts';
import { parseExpectations } from '../../domain/runs/expectations.ts';
import { withoutPerson } from '../terminal/command.ts';

// Values of a run's options, read from the texts of their flags.

/** The rules of `--expect` as given. @throws Problem `setting.invalid` */
export function expectationsOf(text: string): string {
  parseExpectations(text);
  return text.trim();
}

/**
 * Returns the conditions of `--only` unchanged. Temporal shows them, so they must not name a person.
 *
 * @throws Problem `setting.invalid`
 */
export function withoutPeople(choices: readonly string[]): readonly string[] {
  const refusal = { what: 'this condition', where: '--only', next: describingColumn };
  return choices.map((text) => withoutPerson(text, refusal));
}

/** A match rate, `40%` or `0.4`, as a share from 0 to 1. @throws Problem `setting.invalid` */
export function minMatchRateOf(text: string): number {
  const [, digits, sign] = /^(\d+(?:\.\d+)?)\s*(%?)$/.exec(text.trim()) ?? [];
  const share = digits === undefined ? Number.NaN : Number(digits) / (sign === '%' ? 100 : 1);
  if (share >= 0 && share <= 1) return share;
  throw new UsageProblem('setting.invalid', `"${text}" is no share`, {
    where: '--min-match-rate',
    next: 'write 40% or 0.4',
  });
}

/** Credits as decimal text; null without the flag. Needs a pilot. @throws Problem `setting.invalid` */
export function costPerEmailOf(text: string | undefined, hasPilot: boolean): string | null {
  if (text === undefined) return null;
  const credits = creditsOf('--max-cost-per-email', text, 'write a number such as 3 or 1.5');
  if (hasPilot) return credits;
  throw new UsageProblem('setting.invalid', 'this limit applies only to a pilot', {
    where: '--max-cost-per-email',
    next: 'add --pilot N, such as --pilot 200',
  });
}

/** Credits as decimal text. @throws Problem `setting.invalid` */
export function creditsOf(flag: string, text: string, next: string): string {
  const credits = parseCredits(text);
  if (credits !== undefined) return formatCredits(credits);
  throw new UsageProblem('setting.invalid', `"${text}" is not a number of credits`, { where: flag, next });
}

/**
 * The fields of `phone,email` in a fixed order, so that the same options in another order give the same run key.
 *
 * @param texts of the flag, which may be repeated
 * @throws Problem `setting.invalid`
 */
export function extrasOf<Name extends keyof typeof extraNames>(
  option: Name,
  texts: readonly string[],
): ExtraNames<Name> {
  if (texts.length === 0) return [];
  const text = texts.join(',');
  const given = new Set(
    text
      .split(',')
      .map((name) => name.trim().toLowerCase())
      .filter((name) => name !== ''),
  );
  const names: ExtraNames<Name> = extraNames[option];
  const known = names.filter((name) => given.delete(name));
  if (given.size === 0 && known.length > 0) return known;
  throw new UsageProblem('setting.invalid', `"${text}" is not a list of known fields`, {
    where: `--${option}`,
    next: `write ${names.join(', ')}, or ${names.join(',')}`,
  });
}

/**
 * Reads the maximum credits per person of a waterfall; null without a waterfall. Vendors set their own prices, so the
 * user must set a maximum.
 *
 * @throws Problem `credits.no-ceiling`
 */
export function ceilingOf(text: string | undefined, waterfall: boolean): string | null {
  const usage = (what: string, next: string): Problem =>
    new UsageProblem('credits.no-ceiling', what, { where: '--max-credits-per-person', next });
  if (!waterfall) {
    if (text === undefined) return null;
    throw usage('only a waterfall needs a maximum per person', 'remove it, or add --waterfall');
  }
  if (text === undefined) {
    throw usage(
      'a waterfall has no fixed price, and the run has no maximum per person',
      'add --max-credits-per-person, such as 20, or remove --waterfall',
    );
  }
  const credits = parseCredits(text);
  if (credits === undefined || credits === 0n)
    throw usage(`"${text}" is not a number of credits`, 'write a number above 0, such as 20 or 12.5');
  return formatCredits(credits);
}

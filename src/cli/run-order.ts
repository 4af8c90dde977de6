import { readFile } from 'node:fs/promises';
import { basename, resolve } from 'node:path';
import { parse } from 'yaml';
import type { Config } from '../config.ts';
import { formatCredits, parseCredits } from '../domain/decimal.ts';
import { Problem, exitCodes } from '../domain/problem.ts';
import { openExport } from '../exports/open-export.ts';
import type { RunOrder } from '../warehouse/runs.ts';
import type { RunOptions, RunPriority } from '../warehouse/tables.ts';

/** Flags that say what a run asks for, and of which columns. */
export interface WishFlags {
  readonly source?: string | undefined;
  readonly mapping?: string | undefined;
  readonly reveal?: string | undefined;
  readonly waterfall?: string | undefined;
  readonly maxCreditsPerPerson?: string | undefined;
}

export interface RunFlags extends WishFlags {
  readonly plan?: string;
}

/** What is asked for, whatever the file and whenever. */
export type RunWish = Pick<RunOptions, 'source' | 'mapping' | 'reveal' | 'waterfall' | 'maxCreditsPerPerson'>;

/**
 * What a run is asked to do, from the command line: the file's content and every option that decides what is asked for.
 * The same order again finds the unfinished run instead of starting a second one.
 *
 * The file is read once for its hash; that it is an export, and that the mapping fits it, is found on the way, so that a
 * wrong file begins no run.
 *
 * @throws Problem `export.*`, `mapping.*`, `setting.invalid`, `credits.no-ceiling`
 */
export async function orderRun(
  file: string,
  flags: RunFlags,
  config: Config,
  priority: RunPriority = 'ad-hoc',
): Promise<RunOrder> {
  const filePath = resolve(file);
  const expectedPlanHash = planHashOf(flags.plan);
  const wish = await wishOf(flags);
  const { survey } = await openExport(filePath, {
    mapping: wish.mapping ?? undefined,
    source: flags.source,
  });
  return {
    filePath,
    fileName: basename(filePath),
    fileSha256: survey.sha256,
    options: {
      service: config.service.baseUrl ?? 'sandbox',
      source: wish.source,
      mapping: wish.mapping,
      maxCredits: config.budgets.perRun === undefined ? null : formatCredits(config.budgets.perRun),
      reveal: wish.reveal,
      waterfall: wish.waterfall,
      maxCreditsPerPerson: wish.maxCreditsPerPerson,
      lateDeadlineSeconds: config.lateResults.deadlineSeconds,
      freshness: config.freshness,
      priority,
    },
    expectedPlanHash,
  };
}

/**
 * Checks the flags that say what is asked for, and reads the mapping file.
 *
 * @throws Problem `mapping.*`, `setting.invalid`, `credits.no-ceiling`
 */
export async function wishOf(flags: WishFlags): Promise<RunWish> {
  const reveal = extrasOf('--reveal', flags.reveal);
  const waterfall = extrasOf('--waterfall', flags.waterfall);
  return {
    source: flags.source ?? null,
    mapping: flags.mapping === undefined ? null : await readMapping(flags.mapping),
    reveal,
    waterfall,
    maxCreditsPerPerson: ceilingOf(flags.maxCreditsPerPerson, waterfall.length > 0),
  };
}

/** A hash that no plan can have is a slip of the hand, and must not begin a run that can only fail. */
function planHashOf(text: string | undefined): string | null {
  if (text === undefined || /^[0-9a-f]{16}$/.test(text)) return text ?? null;
  throw new Problem('setting.invalid', `"${text}" is not the hash of a plan`, {
    where: '--plan',
    next: 'copy it from what enrich plan FILE prints: 16 digits and letters from a to f',
    exitCode: exitCodes.usage,
  });
}

/** `phone,email` in one order, so that the same wish written otherwise is the same order. */
function extrasOf(flag: string, text: string | undefined): ('email' | 'phone')[] {
  if (text === undefined) return [];
  const names = new Set(
    text
      .split(',')
      .map((name) => name.trim().toLowerCase())
      .filter((name) => name !== ''),
  );
  const known = (['email', 'phone'] as const).filter((name) => names.delete(name));
  if (names.size === 0 && known.length > 0) return known;
  throw new Problem('setting.invalid', `"${text}" is not what can be asked for`, {
    where: flag,
    next: 'write email, phone, or email,phone',
    exitCode: exitCodes.usage,
  });
}

/** A waterfall's vendors have prices that the service does not fix: its owner has to say what one person may cost. */
function ceilingOf(text: string | undefined, waterfall: boolean): string | null {
  const usage = (what: string, next: string): Problem =>
    new Problem('credits.no-ceiling', what, {
      where: '--max-credits-per-person',
      next,
      exitCode: exitCodes.usage,
    });
  if (!waterfall) {
    if (text === undefined) return null;
    throw usage('only a waterfall has prices that need a ceiling', 'leave it out, or add --waterfall');
  }
  if (text === undefined) {
    throw usage(
      'a waterfall has no fixed price, and no ceiling is set',
      'say what one person may cost at most, such as --max-credits-per-person 20, or leave the waterfall out',
    );
  }
  const credits = parseCredits(text);
  if (credits === undefined || credits === 0n)
    throw usage(`"${text}" is not a number of credits`, 'write a number above 0, such as 20 or 12.5');
  return formatCredits(credits);
}

async function readMapping(path: string): Promise<Readonly<Record<string, unknown>>> {
  const refuse = (what: string, cause?: unknown): never => {
    throw new Problem('mapping.unreadable', what, {
      where: path,
      next: 'write a JSON or YAML file such as {"columns": {"email": "E-mail"}}; docs/exports.md shows all fields',
      exitCode: exitCodes.usage,
      cause,
    });
  };
  const text = await readFile(path, 'utf8').catch((error: unknown) =>
    refuse('the mapping file cannot be read', error),
  );
  try {
    // YAML reads JSON as well.
    const mapping: unknown = parse(text);
    if (typeof mapping === 'object' && mapping !== null && !Array.isArray(mapping)) {
      return mapping as Record<string, unknown>;
    }
  } catch (error) {
    return refuse('the mapping file is neither JSON nor YAML', error);
  }
  return refuse('the mapping file holds no object');
}

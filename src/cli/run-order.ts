import { readFile } from 'node:fs/promises';
import { basename, resolve } from 'node:path';
import { parse } from 'yaml';
import type { Config } from '../config.ts';
import { formatCredits } from '../domain/decimal.ts';
import { Problem, exitCodes } from '../domain/problem.ts';
import { hashExport } from '../exports/hash-export.ts';
import type { RunOrder } from '../warehouse/runs.ts';

export interface RunFlags {
  readonly source?: string;
  readonly mapping?: string;
  readonly plan?: string;
}

/**
 * What a run is asked to do, from the command line: the file's content and every option that decides what is asked for.
 * The same order again finds the unfinished run instead of starting a second one.
 */
export async function orderRun(file: string, flags: RunFlags, config: Config): Promise<RunOrder> {
  const filePath = resolve(file);
  const { sha256 } = await hashExport(filePath);
  return {
    filePath,
    fileName: basename(filePath),
    fileSha256: sha256,
    options: {
      source: flags.source ?? null,
      mapping: flags.mapping === undefined ? null : await readMapping(flags.mapping),
      maxCredits: config.budgets.perRun === undefined ? null : formatCredits(config.budgets.perRun),
      reveal: [],
      waterfall: [],
      freshness: config.freshness,
      priority: 'ad-hoc',
    },
    expectedPlanHash: flags.plan ?? null,
  };
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

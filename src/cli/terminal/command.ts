import { readFile } from 'node:fs/promises';
import { userInfo } from 'node:os';
import { Command as CommanderCommand, InvalidArgumentError, type CommanderError } from 'commander';
import { parse } from 'yaml';
import { describeErrorCode, UsageProblem, type DecisionNote, type Problem } from '../../domain/problem.ts';
import type { Session } from '../session/session.ts';
import { hasPersonalData } from '../../domain/text/without-personal-data.ts';

export { Option } from 'commander';

/** Commander's command, with the options and help that many commands share. */
export class Command extends CommanderCommand {
  /** Shows lines of examples below the command's summary. Call it after `description`. */
  examples(lines: string): this {
    const summary = this.description();
    return this.summary(summary).description(`${summary}\n\nExamples:${lines}`);
  }

  /** Shows paragraphs below the options of the help, wrapped to the terminal. */
  explain(text: string): this {
    const paragraphs = text.replaceAll(/(?<=\S)\n(?=\S)/g, ' ');
    const width = this.configureOutput().getOutHelpWidth?.() ?? 80;
    return this.addHelpText('after', this.createHelp().boxWrap(paragraphs, width));
  }

  json(): this {
    return this.option('--json', 'result as JSON on the last line of standard output');
  }

  quiet(): this {
    return this.option('--quiet', 'only the result and errors');
  }

  /** Adds the option `--limit`. */
  limit(what: string, fallback?: number): this {
    return this.option('--limit <n>', what, wholeNumberParser(1), fallback);
  }

  /** Sets an action that gets a session with the warehouse, before the arguments and flags. */
  onWarehouse(use: (session: Session, ...given: never[]) => Promise<void>): this {
    return this.action(async (...given: unknown[]) => {
      const { readSettingsOfExistingWarehouse, withWarehouse } = await import('../session/session.ts');
      await withWarehouse(readSettingsOfExistingWarehouse(), async (session) =>
        use(session, ...(given as never[])),
      );
    });
  }

  /** Adds the options `--reason` and `--by`, which `toNote` reads. @param kept help text: where the reason is stored */
  keepNote(kept: string): this {
    const next = 'write a reason without personal data, such as the number of a ticket';
    // The warehouse or Temporal stores the reason, so it must not name a person.
    const checked = (text: string): string =>
      requireNoPersonalData(text, { what: 'this reason', where: '--reason', next });
    return this.option('--reason <text>', `reason, ${kept}`, checked).option(
      '--by <name>',
      'name of the person who decided (default: the user of this machine)',
    );
  }
}

/** Turns an error of Commander into a Problem. @param command such as `enrich run`, for the next step */
export function asUsageProblem(error: CommanderError, command: string): UsageProblem {
  const message = error.message.replace(/^error: /, '').replaceAll('\n', ' ');
  const [, flag] = /'(--?\w[\w-]*)[^']*'/.exec(message) ?? [];
  return new UsageProblem('usage', message, {
    where: flag ?? command,
    next: `${command} --help shows what it takes, and an example`,
  });
}

/** Values of the flags that `Command` adds: `json`, `quiet`, and `reason` and `by` of `keepNote`. */
export interface CommonFlags {
  readonly json?: boolean;
  readonly quiet?: boolean;
  readonly yes?: boolean;
  readonly reason?: string;
  readonly by?: string;
}

/** Returns who decided and why, as stored with a decision. */
export function toNote({ reason, by = userInfo().username }: CommonFlags): DecisionNote {
  return { by, reason };
}

/** Makes a parser for a flag with a whole number. It refuses a mistyped number instead of using the default. */
export function wholeNumberParser(
  minimum: number,
  maximum = Number.MAX_SAFE_INTEGER,
): (text: string) => number {
  const range = maximum === Number.MAX_SAFE_INTEGER ? `${minimum} or more` : `from ${minimum} to ${maximum}`;
  return (text) => {
    const number = /^\d{1,16}$/.test(text) ? Number(text) : Number.NaN;
    if (Number.isSafeInteger(number) && number >= minimum && number <= maximum) return number;
    throw new InvalidArgumentError(`Write a whole number, ${range}.`);
  };
}

/** Parses a share, such as 0.82 or 82%, to a number from 0 to 1. */
export function parseShare(text: string): number {
  const [, digits, sign] = /^(\d*\.?\d+)\s*(%?)$/.exec(text.trim()) ?? [];
  const number = digits === undefined ? Number.NaN : Number(digits) / (sign === '%' ? 100 : 1);
  if (number >= 0 && number <= 1) return number;
  throw new InvalidArgumentError('Write a share from 0 to 1, such as 0.82 or 82%.');
}

/** Returns a text that the warehouse or Temporal may keep. @throws UsageProblem if it names a person */
export function requireNoPersonalData(
  text: string,
  { what, where, next }: { readonly what: string; readonly where: string; readonly next: string },
): string {
  if (!hasPersonalData(text)) return text;
  throw new UsageProblem('setting.invalid', `${what} seems to name a person`, { where, next });
}

/** Parses a CRM record such as `hubspot/4711`. @throws UsageProblem `person.unclear` */
export function parseContactKey(text: string): { readonly source: string; readonly contactId: string } {
  const [, source, contactId] = /^([^/]+)\/(.+)$/.exec(text) ?? [];
  if (source !== undefined && contactId !== undefined) return { source, contactId };
  throw new UsageProblem('person.unclear', 'the record is not in the form SOURCE/ID', {
    where: '--contact',
    next: 'write the source, a slash and the id of the CRM, such as hubspot/4711',
  });
}

/** Reads a YAML or JSON file. @param name such as `the mapping file` @param problemOf makes the thrown error */
export async function readYamlFile(
  path: string,
  name: string,
  problemOf: (what: string, cause: unknown) => Problem,
): Promise<unknown> {
  const text = await readFile(path, 'utf8').catch((error: NodeJS.ErrnoException) => {
    const what =
      error.code === 'ENOENT' ? 'does not exist' : `cannot be read: ${describeErrorCode(error.code)}`;
    throw problemOf(`${name} ${what}`, error);
  });
  try {
    return parse(text);
  } catch (error) {
    // The message continues with lines that draw an arrow to the place. Errors are one line.
    const [what = ''] = (error as Error).message.split('\n');
    throw problemOf(`${name} is neither YAML nor JSON: ${what.replace(/:$/, '')}`, error);
  }
}

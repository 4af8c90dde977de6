import { basename, dirname, resolve } from 'node:path';
import { z } from 'zod';
import { Problem, UsageProblem } from '../../domain/problem.ts';
import { readYamlFile } from '../terminal/command.ts';
import { defineSchedule, fieldsOf, type ScheduleDefinition } from './schedule-definition.ts';
import type { KnownSchedule } from './schedule-server.ts';

export interface ScheduleFile {
  /** Marks the schedules of this file. Applying the file deletes only schedules of this group. */
  readonly group: string;
  readonly schedules: readonly ScheduleDefinition[];
}

/** The changes that make the schedules match a file. */
export interface ScheduleChanges {
  readonly create: readonly ScheduleDefinition[];
  readonly update: readonly {
    readonly definition: ScheduleDefinition;
    readonly changes: readonly string[];
  }[];
  readonly delete: readonly string[];
  readonly same: readonly string[];
}

const schema = z.strictObject({
  group: z
    .string()
    .regex(/^[A-Za-z0-9][A-Za-z0-9._-]{0,62}$/, 'must be letters, digits, "_", "-" and "."')
    .optional(),
  schedules: z.record(z.string(), z.unknown()),
});

/**
 * Reads a schedule file. Paths in the file are relative to its folder.
 *
 * @throws Problem `schedule.file`, and what `defineSchedule` throws, with the name of the schedule
 */
export async function readScheduleFile(
  path: string,
  settings: { readonly hasBudget: boolean },
): Promise<ScheduleFile> {
  const problemOf = (what: string, cause: unknown): Problem => wrongFile(path, what, cause);
  const content = schema.safeParse(await readYamlFile(path, 'the schedule file', problemOf));
  if (!content.success) {
    throw wrongFile(path, `the schedule file has ${mistakeOf(content.error.issues[0]!)}`);
  }
  const group = content.data.group ?? basename(path).replace(/\.ya?ml$/i, '');
  const context = { folder: dirname(resolve(path)), group, hasBudget: settings.hasBudget };
  const schedules: ScheduleDefinition[] = [];
  for (const [name, given] of Object.entries(content.data.schedules))
    schedules.push(await defineSchedule(name, given, context).catch(inFile(path, name)));
  return { group, schedules };
}

/**
 * Compares a file with the existing schedules.
 *
 * @param present all schedules of the product, from this file or not
 */
export function changesTo(
  file: ScheduleFile,
  present: readonly Pick<KnownSchedule, 'definition' | 'hasFirstKey'>[],
): ScheduleChanges {
  const byName = new Map(present.map((known) => [known.definition.name, known]));
  const wanted = new Set(file.schedules.map((definition) => definition.name));
  const compared = file.schedules.map((definition) => {
    const before = byName.get(definition.name);
    if (!before) return { definition, changes: undefined };
    const encryption = before.hasFirstKey ? [] : ['encrypted with the first key'];
    return { definition, changes: [...differences(before.definition, definition), ...encryption] };
  });
  return {
    create: compared.filter(({ changes }) => changes === undefined).map(({ definition }) => definition),
    update: compared.flatMap(({ definition, changes = [] }) =>
      changes.length > 0 ? [{ definition, changes }] : [],
    ),
    delete: present
      .map(({ definition }) => definition)
      .filter(({ name, work }) => work.group === file.group && !wanted.has(name))
      .map(({ name }) => name),
    same: compared.filter(({ changes }) => changes?.length === 0).map(({ definition }) => definition.name),
  };
}

/** One line for each flag that differs. */
export function differences(before: ScheduleDefinition, after: ScheduleDefinition): string[] {
  const old = fieldsOf(before);
  const fresh = fieldsOf(after);
  return [...new Set([...old.keys(), ...fresh.keys()])]
    .filter((field) => old.get(field) !== fresh.get(field))
    .map((field) => `${field}: ${old.get(field) ?? 'not set'} → ${fresh.get(field) ?? 'not set'}`);
}

/** Formats changes for a person, before they are applied. */
export function describeChanges(changes: ScheduleChanges): string {
  const lines = [
    ...changes.create.flatMap((definition) => [
      `+ ${definition.name}`,
      ...[...fieldsOf(definition)].map(([field, value]) => `    ${field}: ${value}`),
    ]),
    ...changes.update.flatMap(({ definition, changes: fields }) => [
      `~ ${definition.name}`,
      ...fields.map((field) => `    ${field}`),
    ]),
    ...changes.delete.map((name) => `- ${name}`),
    ...changes.same.map((name) => `= ${name}`),
  ];
  return lines.length === 0 ? 'the file has no schedules, and its group has none' : lines.join('\n');
}

function mistakeOf(issue: z.core.$ZodIssue): string {
  if (issue.code === 'unrecognized_keys') return `an unknown key: "${issue.keys[0]}"`;
  if (issue.path.length === 0) return 'no keys: it is no file of schedules';
  return `no usable value for "${issue.path.join('.')}"`;
}

/** Replaces the flag or argument in a problem by the file, the schedule and its key. */
function inFile(path: string, name: string): (error: unknown) => never {
  return (error) => {
    if (!(error instanceof Problem)) throw error;
    const key = error.where
      ?.replace(/^--/, '')
      .replace(/^(?:NAME|FILE)$/, (argument) => argument.toLowerCase());
    throw new UsageProblem(error.type, error.message, {
      where: `${path}, schedule ${name}: ${key ?? ''}`,
      next: error.next,
      cause: error,
    });
  };
}

function wrongFile(where: string, what: string, cause?: unknown): Problem {
  return new UsageProblem('schedule.file', what, {
    where,
    next: 'write "schedules:", and below it each name with its flags; docs/schedules.md has an example',
    cause,
  });
}

import { z } from 'zod';
import { paint } from './style.ts';

const line = z.looseObject({ level: z.string(), time: z.string(), msg: z.string().default('') });
const failure = z.object({ message: z.string() });

/** Formats a line of the JSON log for a person: `12:03:44 warning: a call failed (attempt at-17, people 10)`. */
export function describeLogLine(json: string): string {
  const { level, time, msg, ...fields } = line.parse(JSON.parse(json));
  const facts = Object.entries(fields).map(([name, value]) => `${wordsOf(name)} ${valueOf(value)}`.trim());
  const text = [`${msg}${facts.length === 0 ? '' : ` (${facts.join(', ')})`}`];
  if (level === 'warn') text.unshift(paint('yellow', 'warning:'));
  if (level === 'error' || level === 'fatal') text.unshift(paint('red', 'error:'));
  return [paint('dim', time.slice(11, 19)), ...text].join(' ');
}

/** `attemptId` → `attempt`; empty for an error, whose message needs no name. */
function wordsOf(name: string): string {
  if (name === 'err' || name === 'error') return '';
  return name
    .replace(/Id$/, '')
    .replace(/([a-z])([A-Z])/g, '$1 $2')
    .toLowerCase();
}

function valueOf(value: unknown): string {
  if (Array.isArray(value)) return value.map(valueOf).join(' ');
  if (typeof value !== 'object' || value === null) return String(value);
  const { data } = failure.safeParse(value);
  if (data) return data.message;
  return Object.entries(value)
    .map(([name, each]) => `${wordsOf(name)} ${valueOf(each)}`)
    .join(' ');
}

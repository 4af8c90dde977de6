import { z } from 'zod';

/** A safe name of a parameter, a header or a member of the context. */
const name = /^[\w.[\]-]{1,60}$/;
/** Addresses and long numbers can be personal data. */
const looksPersonal = /@|\d{5,}/;
const longestText = 200;
/** Advice may contain short parts of a key such as `team-key`; the secret parts of a key are longer. */
const shortestSecret = 8;

export const seconds = z
  .union([
    z.number().nonnegative(),
    z
      .string()
      .regex(/^\d{1,9}(?:\.\d+)?$/)
      .transform(Number),
  ])
  .optional()
  .catch(undefined);
const line = z.string().max(1_000).optional().catch(undefined);

export const suggestion = z.looseObject({
  label: line,
  url: line,
  parameter: line,
  parameters: z.array(z.string()).optional().catch(undefined),
  header: line,
  retry_after_seconds: seconds,
});

/** A next step in the service's words. People read it; code never branches on it. */
export type Suggestion = z.infer<typeof suggestion>;

export interface Sent {
  /** Everything that the request says about people. */
  readonly texts: readonly string[];
  readonly credential: readonly string[];
}

/** Returns a condition on a text: it quotes a request, in whole or by a word. Pure. */
export function quotes({ texts, credential }: Sent): (text: string) => boolean {
  const secret = new Set([
    ...texts.flatMap(wordsOf),
    ...credential.flatMap(wordsOf).filter((word) => word.length >= shortestSecret),
  ]);
  const complete = [...texts, ...credential].filter((text) => text.length > 1);
  return (text) =>
    complete.some((each) => text.includes(each)) || wordsOf(text).some((word) => secret.has(word));
}

/**
 * The service's next steps and context as text, without parts that quote the request: services may name the
 * person or the key that they refuse. Pure.
 */
export function adviceOf(
  suggestions: readonly Suggestion[],
  context: Readonly<Record<string, unknown>>,
  sent: Sent,
): string[] {
  const isQuote = quotes(sent);
  const isSafe = (text: string | undefined): text is string =>
    text !== undefined && text.length <= longestText && !looksPersonal.test(text) && !isQuote(text);
  const steps = suggestions.flatMap((step) => {
    if (!isSafe(step.label)) return [];
    const about = [
      ...[step.parameter, ...(step.parameters ?? [])].map((each) => ['parameter', each] as const),
      ['header', step.header] as const,
    ].flatMap(([kind, each]) => (isSafe(each) && name.test(each) ? [`${kind} ${each}`] : []));
    if (step.retry_after_seconds !== undefined) about.push(`in ${Math.ceil(step.retry_after_seconds)} s`);
    if (isSafe(step.url) && URL.canParse(step.url)) about.push(step.url);
    return [about.length === 0 ? step.label : `${step.label} (${about.join(', ')})`];
  });
  const facts = Object.entries(context).flatMap(([key, entry]) => {
    const value = scalarOf(entry);
    return name.test(key) && isSafe(value) ? [`${key}: ${value}`] : [];
  });
  return [...steps, ...facts];
}

/** The value of `{value, description}`, if it is a string or a number. */
function scalarOf(entry: unknown): string | undefined {
  if (typeof entry !== 'object' || entry === null || !('value' in entry)) return undefined;
  const { value } = entry;
  return typeof value === 'string' || typeof value === 'number' ? String(value) : undefined;
}

/** Words of names and addresses, without single letters. */
function wordsOf(text: string): string[] {
  return text
    .toLowerCase()
    .split(/[^\p{L}\p{N}]+/u)
    .filter((word) => word.length > 1);
}

/** What may stand in a sentence: a name of a parameter, a header, a member of the context. */
const name = /^[\w.[\]-]{1,60}$/;
/** Addresses and numbers that look like a person's, wherever the service has them from. */
const looksPersonal = /@|\d{5,}/;
const longestText = 200;
/** Words of a key such as `team-key` stand in any advice about keys; the parts that make it a secret are longer. */
const shortestSecret = 8;

/** A next step as the service words it: for a person to read, never to branch on. */
export interface Suggestion {
  readonly label: string;
  readonly url?: string;
  readonly parameter?: string;
  readonly parameters?: readonly string[];
  readonly header?: string;
  readonly example?: string;
  readonly retryAfterSeconds?: number;
}

/** What a call was made with. */
export interface Sent {
  /** Names, addresses, whatever the request says of people. */
  readonly texts: readonly string[];
  readonly credential: readonly string[];
}

/**
 * The service's own next steps and context in words for a person, as far as they quote nothing of what was sent:
 * services like to name the person, or the key, that they refuse. Pure.
 */
export function adviceOf(
  suggestions: readonly Suggestion[],
  context: Readonly<Record<string, unknown>>,
  sent: Sent,
): string[] {
  const secret = new Set([
    ...sent.texts.flatMap(wordsOf),
    ...sent.credential.flatMap(wordsOf).filter((word) => word.length >= shortestSecret),
  ]);
  const whole = [...sent.texts, ...sent.credential].filter((text) => text.length > 1);
  const isTold = (text: string | undefined): text is string =>
    text !== undefined &&
    text.length <= longestText &&
    !looksPersonal.test(text) &&
    !whole.some((each) => text.includes(each)) &&
    wordsOf(text).every((word) => !secret.has(word));
  const steps = suggestions.flatMap((step) => {
    if (!isTold(step.label)) return [];
    const about = [
      ...[step.parameter, ...(step.parameters ?? [])].map((each) => ['parameter', each] as const),
      ['header', step.header] as const,
    ].flatMap(([kind, each]) => (isTold(each) && name.test(each) ? [`${kind} ${each}`] : []));
    if (step.retryAfterSeconds !== undefined) about.push(`in ${Math.ceil(step.retryAfterSeconds)} s`);
    if (isTold(step.url) && URL.canParse(step.url)) about.push(step.url);
    return [about.length === 0 ? step.label : `${step.label} (${about.join(', ')})`];
  });
  const facts = Object.entries(context).flatMap(([key, entry]) => {
    const value = scalarOf(entry);
    return name.test(key) && isTold(value) ? [`${key}: ${value}`] : [];
  });
  return [...steps, ...facts];
}

/** The value of `{value, description}`, where it is a single one. */
function scalarOf(entry: unknown): string | undefined {
  if (typeof entry !== 'object' || entry === null || !('value' in entry)) return undefined;
  const { value } = entry;
  return typeof value === 'string' || typeof value === 'number' ? String(value) : undefined;
}

/** Parts of names and addresses; a single letter tells nothing of anybody. */
function wordsOf(text: string): string[] {
  return text
    .toLowerCase()
    .split(/[^\p{L}\p{N}]+/u)
    .filter((word) => word.length > 1);
}

import type { PilotJudgement } from '../../contract/activities.ts';
import type { PauseReason } from '../../contract/pause-reasons.ts';
import { lateKinds, lateKindsOf } from '../../domain/late-results/delivery-kinds.ts';
import { counted, countedPeople } from '../../domain/text/counted.ts';
import { formatCredits, storedCredits, type Credits } from '../../domain/money/decimal.ts';
import { formatPrice } from '../../domain/money/format-price.ts';
import { describeRate, matchRate } from '../../domain/runs/match-rate.ts';
import { formatPercent } from '../../domain/text/format-percent.ts';
import type { Warehouse } from '../../db/database.ts';
import { recordPilot, readPilot, type PilotResult } from './pilot.ts';
import { getRun, type RunRecord } from '../runs.ts';
import type { PilotFigures } from '../../db/schema/run-tables.ts';

/**
 * Reads the results of a run's pilot and decides whether the run continues. The run's quality gates decide; without
 * gates the run pauses for a person's decision. A pilot is judged once: a person who resumes the run overrules it. A
 * run that is already paused for another reason is judged after its resume.
 */
export async function judgePilot(warehouse: Warehouse, runId: string): Promise<PilotJudgement> {
  const run = await getRun(warehouse, runId);
  if (!run.plan?.pilot) throw new Error(`run ${runId} has no pilot`);
  const { people, pages } = run.plan.pilot;
  const result = await readPilot(warehouse, runId, pages);
  const figures = figuresOf(people, result, asksForPhones(run));
  const summary = describePilot(figures);
  const pauseReason = await recordPilot(warehouse, runId, figures, pauseReasonOf(run, result, summary));
  if (pauseReason === 'postponed') return { kind: pauseReason };
  return pauseReason ? { kind: 'pause', pauseReason } : { kind: 'continue', summary };
}

/** A run that does not ask for phones paid for none: its contacts have the phones of earlier runs. */
function asksForPhones({ options }: RunRecord): boolean {
  return lateKindsOf(options).some((kind) => lateKinds[kind].values === 'phones');
}

function figuresOf(people: number, result: PilotResult, hasPhonePrice: boolean): PilotFigures {
  const { found, answered, settled, held, fields } = result;
  const each = (field: string, count: number): string | null =>
    count === 0 || (field === 'phone' && !hasPhonePrice)
      ? null
      : formatCredits(quotient(priceOf(result), BigInt(count)));
  return {
    people,
    answered,
    found,
    match_rate: matchRate(result) ?? null,
    credits: { settled, held },
    fields: Object.fromEntries(
      Object.entries(fields).map(([field, count]) => [field, { count, credits_each: each(field, count) }]),
    ),
  };
}

/** `100 people asked for, 70 of 100 found: 70 % (60.4 % to 78.1 %); 70 credits; 1 credit an email (70), …` */
function describePilot({ people, answered, found, match_rate, credits, fields }: PilotFigures): string {
  const prices = Object.entries(fields).flatMap(([field, { count, credits_each: each }]) =>
    each === null ? [] : [`${formatPrice(each)} per ${field} (${count})`],
  );
  const held = credits.held === '0' ? '' : ` and ${credits.held} held`;
  return [
    `pilot of ${countedPeople(people)}`,
    match_rate === null ? 'no answers yet' : `${found} of ${answered} found: ${describeRate(match_rate)}`,
    `${counted(credits.settled, 'credit')}${held}${prices.length === 0 ? '' : `: ${prices.join(', ')}`}`,
  ].join('; ');
}

function pauseReasonOf(
  { runId, options }: RunRecord,
  result: PilotResult,
  summary: string,
): PauseReason | undefined {
  const { minMatchRate, maxCostPerEmail } = options;
  const next = `enrich resume ${runId} continues with everybody else; enrich cancel ${runId} ends it`;
  if (minMatchRate === null && maxCostPerEmail === null) return { type: 'pilot.done', reason: summary, next };
  const rate = matchRate(result)?.rate;
  const broken = [
    ...(minMatchRate !== null && (rate ?? 0) < minMatchRate
      ? [`the match rate is below ${formatPercent(minMatchRate)}`]
      : []),
    ...(maxCostPerEmail !== null && isDearer(result, storedCredits(maxCostPerEmail))
      ? [`an email costs more than ${counted(maxCostPerEmail, 'credit')}`]
      : []),
  ];
  if (broken.length === 0) return undefined;
  return { type: 'pilot.below', reason: `${broken.join(', and ')}: ${summary}`, next };
}

/** Compared as a product: a quotient would be rounded. */
function isDearer(result: PilotResult, ceiling: Credits): boolean {
  return priceOf(result) > ceiling * BigInt(result.fields.email);
}

/** Credits that are held as unknown count: the service may have billed them. */
function priceOf({ settled, held }: PilotResult): Credits {
  return storedCredits(settled) + storedCredits(held);
}

/** Rounded to the nearest millionth of a credit. */
function quotient(credits: Credits, count: bigint): Credits {
  return (2n * credits + count) / (2n * count);
}

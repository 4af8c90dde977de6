import { runDefaults } from '../config.ts';
import { Problem } from '../domain/problem.ts';
import { optionsOf } from '../enrichment/scheduled-run.ts';
import { addressName, addressText, shownAddress } from '../exports/export-address.ts';
import { downloadLimits } from '../exports/download.ts';
import { findExports, type FoundExport } from '../exports/find-export.ts';
import { obtainExport } from '../exports/obtain-export.ts';
import { readableSeconds, tell } from './output.ts';
import { planExport } from './plan-export.ts';
import type { ScheduleDefinition } from './schedule-definition.ts';
import type { KnownSchedule } from './schedule-server.ts';
import type { Session } from './session.ts';

/** Somebody waits: whether the network comes back is for the night to see. */
const failuresWhileSomebodyWaits = 2;

/**
 * Says what a schedule would find now, and whether its calls would be done before the next time comes: a path that is wrong,
 * and a night that overruns, should be seen today. The export is planned as it is now, of `every-new` the latest alone; no
 * call is made. What cannot be reached from here is no error: a worker may reach it.
 */
export async function tellOutlook(
  session: Session,
  { definition, description }: KnownSchedule,
): Promise<void> {
  const { name, timezone, work } = definition;
  const access = {
    ...session.config.exportAccess,
    pool: session.warehouse.pool,
    limits: { ...downloadLimits, failures: failuresWhileSomebodyWaits },
  };
  try {
    const found = await findExports(work.export, new Date(), timezone, access);
    const latest = found.at(-1);
    const more = found.length > 1 ? ` and ${found.length - 1} more` : '';
    tell(`${name} would find now: ${latest ? `${shownAddress(latest.address)}${more}` : 'no file'}`);
    if (!latest) return;
    const seconds = await secondsOf(session, definition, latest, access);
    const warning = overrunWarning(seconds, description.info.nextActionTimes);
    if (warning !== undefined) tell(`note: ${name}: the plan of ${addressName(latest.address)} ${warning}`);
  } catch (error) {
    if (!(error instanceof Problem)) throw error;
    tell(
      `note: ${name}: ${error.message} (${error.where ?? ''}), as seen from here; a worker looks for it at its time`,
    );
  }
}

/**
 * Says of a plan that takes longer than there is between two times: the next of them will be skipped, or wait.
 *
 * @param seconds that the calls of one time take at the call limit
 * @param times when the schedule fires next
 */
export function overrunWarning(seconds: number, times: readonly Date[]): string | undefined {
  const gaps = times.slice(1).map((time, index) => (time.getTime() - times[index]!.getTime()) / 1_000);
  const shortest = Math.min(...gaps);
  if (seconds <= shortest) return undefined;
  return `takes about ${readableSeconds(seconds)} at the call limit, and there are only ${readableSeconds(shortest)} to the next time: it overruns`;
}

async function secondsOf(
  session: Session,
  { work }: ScheduleDefinition,
  { address }: FoundExport,
  access: Parameters<typeof obtainExport>[1],
): Promise<number> {
  const { sha256 } = await obtainExport(address, access);
  const { plan } = await planExport(session, {
    filePath: addressText(address),
    fileName: addressName(address),
    fileSha256: sha256,
    options: optionsOf({ defaults: runDefaults(session.config) }, work),
    expectedPlanHash: null,
  });
  return plan.etaSeconds;
}

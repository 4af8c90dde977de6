import { counted } from '../src/domain/text/counted.ts';
import type { RunProgress } from './messages.ts';

/**
 * The run in one Markdown table, for the page of the run in Temporal's UI: what, how far, how much, what it waits for.
 */
export function progressTable({
  phase,
  page,
  pages,
  plan,
  service,
  pauseReason,
  tally,
  late,
  priority,
}: RunProgress): string {
  const rows: [string, string | number][] = [['phase', phase]];
  if (plan) {
    const dropped = Object.entries(plan.dropped).map(([outcome, count]) => `${count} ${outcome}`);
    rows.push(
      ['rows', plan.rows],
      ['not asked for', dropped.length === 0 ? 'nobody' : dropped.join(', ')],
      ['people to ask for', plan.people],
      ['calls', `${tally.calls} of about ${plan.calls}`],
      ['page', `${page} of ${pages}`],
      ['enriched / not found / other', `${tally.enriched} / ${tally.notFound} / ${tally.other}`],
      [
        'credits settled',
        `${tally.creditsSettled} (plan: ${plan.credits.expected}, at most ${plan.credits.worstCase})`,
      ],
      ['priority', priority],
      ['plan', plan.planHash],
    );
  }
  if (service !== null) rows.push(['service', service]);
  if (late) {
    const until = late.until === null ? '' : `, until ${late.until}`;
    rows.push(
      ['late results awaited', `of ${counted(late.awaited, 'call')}${until}`],
      ['late results arrived', counted(late.arrived, 'delivery', 'deliveries')],
    );
    if (late.expired > 0) rows.push(['late results expired', `of ${counted(late.expired, 'call')}`]);
    if (late.orphaned > 0) rows.push(['deliveries for nobody', late.orphaned]);
  }
  if (pauseReason) rows.push(['**needs a person**', pauseReason.reason], ['next', `\`${pauseReason.next}\``]);
  return ['| | |', '|---|---|', ...rows.map(([name, value]) => `| ${name} | ${value} |`)].join('\n');
}

import { answeredOutcomes } from '../domain/runs/outcome.ts';
import { describeAskedService, sandbox } from '../domain/runs/asked-service.ts';
import { formatCredits, storedCredits } from '../domain/money/decimal.ts';
import { callsSection, countSentCalls } from './sections/calls-section.ts';
import { coverageSection } from './sections/coverage-section.ts';
import { creditsSection } from './sections/credits-section.ts';
import { evaluationSection } from './evaluation/evaluation-section.ts';
import { lateResultsSection } from './sections/late-results-section.ts';
import { outcomesSection } from './sections/outcomes-section.ts';
import { runSection } from './sections/run-section.ts';
import type { ReportDocument } from './document-types.ts';
import type { FieldCost, RunReport } from './report-types.ts';
import { counted } from '../domain/text/counted.ts';
import { formatNumber } from '../domain/text/format-number.ts';
import { formatPercent } from '../domain/text/format-percent.ts';
import { visibleInLine } from '../domain/text/visible.ts';
import { formatPrice } from '../domain/money/format-price.ts';
import { secondOf } from '../domain/text/minute-of.ts';
import { words } from './wording.ts';

export function documentOf(report: RunReport): ReportDocument {
  const { run } = report;
  return {
    title: `Enrichment report: ${visibleInLine(run.file)}`,
    subtitle:
      `${run.run_id}, ${words(run.status)}${run.undone ? ', undone' : ''}` +
      (run.service === sandbox ? `, asked ${describeAskedService(run.service)}` : ''),
    headline: headlineOf(report),
    actions: report.needs_person.map(({ what, next }) => ({
      what: visibleInLine(what),
      next: visibleInLine(next),
    })),
    sections: [
      outcomesSection(report),
      coverageSection(report),
      ...(report.evaluation ? [evaluationSection(report.evaluation)] : []),
      creditsSection(report),
      callsSection(report),
      lateResultsSection(report),
      runSection(report),
    ].map((section) => ({ ...section, tables: section.tables.filter(({ rows }) => rows.length > 0) })),
    footer:
      `Created ${secondOf(report.generated_at)} by enrich report ${run.run_id}. ` +
      'Contains no data of the people in the file.',
  };
}

function headlineOf({
  run,
  outcomes,
  credits: money,
  waste,
  costs,
  calls,
}: RunReport): ReportDocument['headline'] {
  const enriched = outcomes.enriched ?? 0;
  const asked = answeredOutcomes.reduce((sum, name) => sum + (outcomes[name] ?? 0), 0);
  const email = costs.find(({ field }) => field === 'verified_email');
  const wasted = formatCredits(waste.reduce((sum, each) => sum + storedCredits(each.credits), 0n));
  return [
    {
      label: 'Rows enriched',
      value: formatNumber(enriched),
      note: `of ${counted(run.rows, 'row')} in the file`,
    },
    {
      label: 'Match rate',
      value: formatPercent(enriched, asked),
      note: `of ${counted(asked, 'answered row')}`,
    },
    {
      label: 'Credits settled',
      value: formatNumber(money.settled.total),
      note:
        money.held.total === '0'
          ? `${counted(countSentCalls(calls.by_status), 'call')}, nothing held`
          : `${formatNumber(money.held.total)} more held`,
    },
    {
      label: 'Per verified email',
      value: email?.each ? formatPrice(email.each) : '–',
      note: noteOfPrice(email),
    },
    {
      label: 'Without a result',
      value: formatNumber(wasted),
      note: wasted === '0' ? 'no credits' : 'credits',
    },
  ];
}

function noteOfPrice(email: FieldCost | undefined): string {
  if (email === undefined) return 'retention has removed the rows';
  const emails = counted(email.count, 'email');
  return email.each === null && email.count > 0
    ? `nothing settled yet, for ${emails}`
    : `credits, for ${emails}`;
}

import { answeredOutcomes, isOutcome, outcomeFacts } from '../domain/runs/outcome.ts';
import { describeAskedService, sandbox } from '../domain/runs/asked-service.ts';
import { formatCredits, parseCredits } from '../domain/money/decimal.ts';
import { formatRateLimits } from '../domain/rates/rate-limit.ts';
import { creditsSection } from './credits-section.ts';
import { evaluationSection } from './evaluation/evaluation-section.ts';
import type { ReportDocument, Section, Table } from './document-types.ts';
import type { RunReport } from './report-types.ts';
import { counted } from '../domain/text/counted.ts';
import { formatElapsed } from '../domain/text/duration.ts';
import { formatNumber } from '../domain/text/format-number.ts';
import { formatPercent, formatShares } from '../domain/text/format-percent.ts';
import { visibleInLine } from '../domain/text/visible.ts';
import { fieldName, moment, price, words } from './wording.ts';

/** Writes a report as a document of text and tables. */
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
      lateSection(report),
      runSection(report),
    ],
    footer:
      `Created ${moment(report.generated_at)} by enrich report ${run.run_id}. ` +
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
  const wasted = formatCredits(waste.reduce((sum, each) => sum + (parseCredits(each.credits) ?? 0n), 0n));
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
          ? `${counted(sent(calls.by_status), 'call')}, nothing held`
          : `${formatNumber(money.held.total)} more held`,
    },
    {
      label: 'Per verified email',
      value: email?.each ? price(email.each) : '–',
      note: `credits, for ${counted(email?.count ?? 0, 'email')}`,
    },
    {
      label: 'Without a result',
      value: formatNumber(wasted),
      note: wasted === '0' ? 'no credits' : 'credits',
    },
  ];
}

function outcomesSection({ run, outcomes, lost_contacts: lost }: RunReport): Section {
  const shares = formatShares(Object.values(outcomes));
  const rows = Object.entries(outcomes).map(([outcome, number], at) => [
    words(outcome),
    formatNumber(number),
    shares[at]!,
    isOutcome(outcome) ? outcomeFacts[outcome].meaning : openRows,
  ]);
  return {
    id: 'outcomes',
    title: 'Outcomes',
    lead: 'Every row of the file ends in exactly one outcome.',
    tables: [
      {
        caption: 'Rows by outcome',
        columns: [
          { title: 'Outcome' },
          { title: 'Rows', numeric: true },
          { title: 'Share', numeric: true },
          { title: 'Meaning' },
        ],
        rows: [...rows, ['all rows', formatNumber(run.rows), formatPercent(run.rows, run.rows), '']],
      },
      ...(lost.length === 0
        ? []
        : [
            {
              caption: 'Rows whose contact has lost its person since',
              columns: [{ title: 'Reason' }, { title: 'Rows', numeric: true as const }],
              rows: lost.map(({ reason, rows: number }) => [reason, formatNumber(number)]),
            },
          ]),
    ],
  };
}

const openRows = 'not decided yet';

function coverageSection({ coverage }: RunReport): Section {
  const { contacts, fields } = coverage;
  const title = 'Coverage before and after';
  if (fields.length === 0) {
    const lead = 'The rows of the file were deleted after their retention period (RETENTION).';
    return { id: 'coverage', title, lead, tables: [] };
  }
  return {
    id: 'coverage',
    title,
    lead:
      `The number of contacts with each field, of ${counted(contacts, 'contact')} in the file (without duplicates ` +
      'and unreadable rows): in the export, and now in the export or the warehouse. ' +
      'A dash means that the export has no such column.',
    tables: [
      {
        caption: 'Contacts with a value, by field',
        columns: [
          { title: 'Field' },
          { title: 'Before', numeric: true },
          { title: 'After', numeric: true },
          { title: 'Gained', numeric: true },
          { title: 'Before, share', numeric: true },
          { title: 'After, share', numeric: true },
        ],
        rows: fields.map(({ field, before, after, gained }) => [
          fieldName(field),
          before === null ? '–' : formatNumber(before),
          formatNumber(after),
          `+${formatNumber(gained)}`,
          before === null ? '–' : formatPercent(before, contacts),
          formatPercent(after, contacts),
        ]),
      },
    ],
  };
}

function callsSection({ calls }: RunReport): Section {
  const { by_status: statuses, first_at: first, last_at: last, windows } = calls;
  return {
    id: 'calls',
    title: 'Calls against the limit',
    lead:
      first === null || last === null
        ? 'No call was made.'
        : `${counted(sent(statuses), 'call')} from ${moment(first)} to ${moment(last)}. ` +
          'All runs at one service share its limits. The charts show the current limits.',
    tables: [
      ...(windows.length === 0
        ? []
        : [
            {
              caption: 'Maximum calls in a trailing window, of all runs',
              columns: [
                { title: 'Limit' },
                { title: 'Maximum', numeric: true },
                { title: 'Share of the limit', numeric: true },
              ],
              rows: windows.map(({ limit, seconds, peak }) => [
                formatRateLimits([{ calls: limit, seconds }]),
                formatNumber(peak),
                formatPercent(peak, limit),
              ]),
            } satisfies Table,
          ]),
      {
        caption: 'Calls by status',
        columns: [{ title: 'Status' }, { title: 'Calls', numeric: true }],
        rows: Object.entries(statuses).map(([status, number]) => [
          status === 'released' ? 'released, never sent' : status,
          formatNumber(number),
        ]),
      },
    ],
  };
}

/** Calls that may have reached the service. */
function sent(statuses: Readonly<Record<string, number>>): number {
  return Object.entries(statuses).reduce(
    (sum, [status, calls]) => sum + (status === 'released' ? 0 : calls),
    0,
  );
}

function lateSection({ late_results: late }: RunReport): Section {
  const figures: [string, number][] = [
    ['calls that wait for late results', late.awaited],
    ['calls whose late results did not arrive in time', late.expired],
    ['deliveries with effect', late.arrived],
    ['– fetched by a poll', late.polled],
    ['– after the end of the run', late.late],
    ['repeated deliveries', late.duplicate],
    ['deliveries for no person of a recorded answer', late.orphaned],
    ['unreadable deliveries', late.quarantined],
    ['deliveries not applied yet', late.waiting],
  ];
  const took =
    late.median_seconds === null || late.longest_seconds === null
      ? ''
      : ` Half of them arrived within ${formatElapsed(late.median_seconds)} of the answer, ` +
        `the last after ${formatElapsed(late.longest_seconds)}.`;
  const none = figures.every(([, number]) => number === 0);
  return {
    id: 'late-results',
    title: 'Late results',
    lead: none
      ? 'The run has no late results.'
      : `Phones and waterfall results arrive after the answer, by webhook or by poll.${took}`,
    tables: none
      ? []
      : [
          {
            caption: 'Late results',
            columns: [{ title: 'Kind' }, { title: 'Count', numeric: true }],
            rows: figures.map(([what, number]) => [what, formatNumber(number)]),
          },
        ],
  };
}

function runSection({ run }: RunReport): Section {
  const { reveal, waterfall } = run.asked_for;
  const extras = [...reveal.map((kind) => `reveal ${kind}`), ...waterfall.map((kind) => `waterfall ${kind}`)];
  const facts: [string, string | null][] = [
    ['run', run.run_id],
    ['status', words(run.status)],
    ['reason', run.reason],
    ['file', run.file],
    ['SHA-256 of the file', run.file_sha256],
    ['source', run.source],
    ['service', describeAskedService(run.service)],
    ['asked for', ['profile', ...extras].join(', ')],
    ['priority', run.priority],
    ['plan', run.plan_hash],
    ['created', moment(run.created_at)],
    ['approved', run.approved_at && moment(run.approved_at)],
    ['ended', run.finished_at && moment(run.finished_at)],
    ['duration', formatElapsed(run.seconds)],
    ['undone', run.undone && `${moment(run.undone.at)} by ${run.undone.by}`],
    ['reason for undo', run.undone?.reason ?? null],
  ];
  return {
    id: 'run',
    title: 'Run',
    lead: '',
    tables: [
      {
        caption: 'The run',
        columns: [{ title: 'Property' }, { title: 'Value' }],
        rows: facts.flatMap(([name, value]) => (value === null ? [] : [[name, visibleInLine(value)]])),
      },
    ],
  };
}

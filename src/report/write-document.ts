import { formatCredits, parseStoredCredits, formatLimit, formatPrice } from '../domain/money/decimal.ts';
import { compareWithExpectedRange } from '../domain/money/credit-rules.ts';
import { deliveryKindNames, deliveryKinds } from '../domain/late-results/delivery-kinds.ts';
import { formatRateLimits } from '../domain/rates/rate-limit.ts';
import { describeServiceOfRun, sandboxServiceName } from '../domain/runs/run-options.ts';
import { describeRate } from '../domain/runs/match-rate.ts';
import { answeredOutcomes, isOutcome, outcomeFacts } from '../domain/runs/outcome.ts';
import {
  formatCount,
  formatPeopleCount,
  formatNumber,
  formatPercent,
  formatSecond,
  escapeControlsInLine,
} from '../domain/text/format.ts';
import { formatElapsed } from '../domain/text/duration.ts';
import type { RunReport } from '../outputs/report-output.ts';

/** The report as unescaped text, tables and bars. Every format except JSON is rendered from it. */
export interface ReportDocument {
  readonly title: string;
  readonly subtitle: string;
  readonly headline: readonly { readonly label: string; readonly value: string; readonly note: string }[];
  readonly actions: readonly { readonly what: string; readonly next: string }[];
  readonly sections: readonly ReportSection[];
  readonly footer: string;
}

export interface ReportSection {
  readonly id: 'run' | 'outcomes' | 'coverage' | 'credits' | 'calls' | 'late-results' | 'truth';
  readonly title: string;
  readonly lead: string;
  readonly tables: readonly ReportTable[];
}

/** A table whose first column names each row. Documents leave out tables without rows. */
export interface ReportTable {
  readonly caption: string;
  readonly columns: readonly ReportColumn[];
  readonly rows: readonly (readonly string[])[];
}

export interface ReportColumn {
  readonly title: string;
  readonly numeric?: true;
}

/** Makes a table with numbers in all columns after the first. Null is shown as a dash. */
function tableOfNumbers(
  caption: string,
  [name = '', ...numbers]: readonly string[],
  rows: readonly (readonly [string, ...(string | number | null)[]])[],
): ReportTable {
  const shown = (cell: string | number | null): string =>
    cell === null ? '–' : /^\d+(?:\.\d+)?$/.test(String(cell)) ? formatNumber(cell) : String(cell);
  return {
    caption,
    columns: [{ title: name }, ...numberColumns(...numbers)],
    rows: rows.map(([title, ...cells]) => [title, ...cells.map(shown)]),
  };
}

function numberColumns(...titles: readonly string[]): ReportColumn[] {
  return titles.map((title) => ({ title, numeric: true }));
}

type Waste = RunReport['waste'][number];

export function reportDocumentOf(report: RunReport): ReportDocument {
  const { run } = report;
  return {
    title: `Enrichment report: ${escapeControlsInLine(run.file)}`,
    subtitle:
      `${run.run_id}, ${words(run.status)}${run.undone ? ', undone' : ''}` +
      (run.service === sandboxServiceName ? `, asked ${describeServiceOfRun(run.service)}` : ''),
    headline: headlineOf(report),
    actions: report.needs_person.map(({ what, next }) => ({
      what: escapeControlsInLine(what),
      next: escapeControlsInLine(next),
    })),
    sections: [
      outcomesSection(report),
      coverageSection(report),
      ...(report.evaluation ? [truthSection(report.evaluation)] : []),
      creditsSection(report),
      callsSection(report),
      lateResultsSection(report),
      runSection(report),
    ].map((section) => ({ ...section, tables: section.tables.filter(({ rows }) => rows.length > 0) })),
    footer:
      `Created ${formatSecond(report.generated_at)} by enrich report ${run.run_id}. ` +
      'Contains no data of the people in the file.',
  };
}

function headlineOf(report: RunReport): ReportDocument['headline'] {
  const { run, outcomes, credits: money, waste, costs, calls } = report;
  const enriched = outcomes.enriched ?? 0;
  const asked = answeredOutcomes.reduce((sum, name) => sum + (outcomes[name] ?? 0), 0);
  const email = costs.find(({ field }) => field === 'verified_email');
  const wasted = formatCredits(waste.reduce((sum, each) => sum + parseStoredCredits(each.credits), 0n));
  return [
    {
      label: 'Rows enriched',
      value: formatNumber(enriched),
      note: `of ${formatCount(run.rows, 'row')} in the file`,
    },
    {
      label: 'Match rate',
      value: formatPercent(enriched, asked),
      note: `of ${formatCount(asked, 'answered row')}`,
    },
    {
      label: 'Credits settled',
      value: formatNumber(money.settled.total),
      note:
        money.held.total === '0'
          ? `${formatCount(countSentCalls(calls.by_status), 'call')}, nothing held`
          : `${formatNumber(money.held.total)} more held`,
    },
    {
      label: 'Per verified email',
      value: email?.each ? formatPrice(email.each) : '–',
      note:
        (email?.each === null && email.count > 0 ? 'nothing settled yet' : 'credits') +
        `, for ${formatCount(email?.count ?? 0, 'email')}`,
    },
    {
      label: 'Without a result',
      value: formatNumber(wasted),
      note: wasted === '0' ? 'no credits' : 'credits',
    },
  ];
}

/** Counts calls by all statuses except `released`, which was never sent. */
function countSentCalls(statuses: Readonly<Record<string, number>>): number {
  return Object.entries(statuses).reduce(
    (sum, [status, calls]) => sum + (status === 'released' ? 0 : calls),
    0,
  );
}

function outcomesSection(report: RunReport): ReportSection {
  const { run, outcomes, contested_rows: contested, lost_contacts: lost } = report;
  const counts = Object.entries(outcomes);
  const whole = counts.reduce((sum, [, number]) => sum + number, 0);
  const rows = counts.map(([outcome, number]) => [
    words(outcome),
    formatNumber(number),
    formatPercent(number, whole),
    isOutcome(outcome) ? outcomeFacts[outcome].meaning : 'not decided yet',
  ]);
  return {
    id: 'outcomes',
    title: 'Outcomes',
    lead: 'Every row of the file ends in exactly one outcome.',
    tables: [
      {
        caption: 'Rows by outcome',
        columns: [{ title: 'Outcome' }, ...numberColumns('Rows', 'Share'), { title: 'Meaning' }],
        rows: [...rows, ['all rows', formatNumber(run.rows), formatPercent(run.rows, run.rows), '']],
      },
      tableOfNumbers(
        'Rows whose record id names different people, which the run does not ask for',
        ['Outcome', 'Rows'],
        contested === 0 ? [] : [['duplicate', contested]],
      ),
      tableOfNumbers(
        'Rows whose contact has lost its person since',
        ['Reason', 'Rows'],
        lost.map(({ reason, rows: number }) => [reason, number]),
      ),
    ],
  };
}

function coverageSection({ coverage: { contacts, fields } }: RunReport): ReportSection {
  return {
    id: 'coverage',
    title: 'Coverage before and after',
    lead:
      fields.length === 0
        ? 'The cells of the file were removed after their retention period (RETENTION).'
        : `The number of contacts with each field, of ${formatCount(contacts, 'contact')} in the file (without ` +
          'duplicates and unreadable rows): in the export, and now in the export or the warehouse. ' +
          'A dash means that no column is recognised for the field.',
    tables: [
      tableOfNumbers(
        'Contacts with a value, by field',
        ['Field', 'Before', 'After', 'Gained', 'Before, share', 'After, share'],
        fields.map(({ field, before, after, gained }) => [
          fieldName(field),
          before,
          after,
          `+${formatNumber(gained)}`,
          before === null ? null : formatPercent(before, contacts),
          formatPercent(after, contacts),
        ]),
      ),
    ],
  };
}

function truthSection(evaluation: NonNullable<RunReport['evaluation']>): ReportSection {
  const { people, enriched, source, fields, identities_compared: compared, wrong_people: wrong } = evaluation;
  return {
    id: 'truth',
    title: 'Compared with known values',
    lead:
      `The truth file has ${formatPeopleCount(people)} of source ${source}; the warehouse has data for ` +
      `${formatNumber(enriched)}. Coverage is the share of known values for which the warehouse has a value, ` +
      'accuracy the share of these values that are the known ones, each with its 95 % interval (Wilson). ' +
      `Of ${formatPeopleCount(compared)} whose name or profile is known, ${formatCount(wrong.length, 'contact')} ` +
      `${wrong.length === 1 ? 'holds' : 'hold'} the data of another person.`,
    tables: [
      tableOfNumbers(
        'Coverage and accuracy, by field',
        ['Field', 'Known', 'Filled', 'Correct', 'Coverage', 'Accuracy'],
        fields.map(({ field, known, filled, correct, coverage, accuracy }) => [
          fieldName(field),
          known,
          filled,
          correct,
          coverage && describeRate(coverage),
          accuracy && describeRate(accuracy),
        ]),
      ),
      {
        caption: 'Contacts with the data of another person',
        columns: [...numberColumns('Row of the truth file'), { title: 'Contact' }, { title: 'Other' }],
        rows: wrong.map(({ row, contact_id: contactId, because }) => [formatNumber(row), contactId, because]),
      },
    ],
  };
}

const wasteOf: Readonly<Record<Waste['kind'], string>> = {
  no_contact: 'returned people who matched no contact',
  answered_again: 'people returned more than once: rows of one person',
  no_answer: 'people of calls without an answer that an operator accepted as billed',
};

function creditsSection({ run, credits: money, outcomes, waste, costs }: RunReport): ReportSection {
  const { settled, held, planned, budgets } = money;
  const isFinal = run.status === 'finished' && held.total === '0' && (outcomes.over_budget ?? 0) === 0;
  const all: [string, string][] = [
    ['records, billed with the answers', settled.records],
    ...deliveryKindNames.map((kind): [string, string] => [
      `${deliveryKinds[kind].creditsName}, billed with late results`,
      settled[kind],
    ]),
    ['accepted by an operator, without a bill', settled.decided],
    ['settled', settled.total],
    ['held for calls in flight', held.in_flight],
    ['held for late results', held.awaiting],
    ['held, cost unknown', held.unknown],
  ];
  const parts = all.filter(([kind, value]) => value !== '0' || kind === 'settled');
  return {
    id: 'credits',
    title: 'Credits',
    lead:
      planned === null
        ? 'The run was not planned.'
        : `The plan: at least ${formatNumber(planned.minimum)}, expected ${formatNumber(planned.expected)} ` +
          `(${formatNumber(planned.low)} to ${formatNumber(planned.high)}), ` +
          `at most ${formatNumber(planned.worst_case)}. ` +
          (isFinal ? `The settled credits are ${compareWithExpectedRange(settled.total, planned)}. ` : '') +
          `The cost of a call is divided equally among its people.` +
          (held.total === '0' ? '' : ' Prices are not final while credits are held.'),
    tables: [
      tableOfNumbers('Credits by kind', ['Kind', 'Credits'], parts),
      tableOfNumbers(
        'Cost per usable field, of people whom the run found and who are a contact now',
        ['Field', 'Count', 'Credits', 'Each'],
        costs.map(({ field, count, credits, each }) => [
          fieldName(field),
          count,
          credits,
          each && formatPrice(each),
        ]),
      ),
      tableOfNumbers(
        'Credits without a result',
        ['Where', 'Count', 'Credits'],
        waste.length === 0
          ? [['none', '0', '0']]
          : waste.map(({ kind, count, credits }) => [wasteOf[kind], count, credits]),
      ),
      tableOfNumbers(
        'Budgets of the calls, with all their runs',
        ['Budget', 'Limit', 'Settled', 'Reserved'],
        budgets.map(({ budget, limit, settled: spent, reserved }) => [
          budget,
          formatLimit(limit, 'none'),
          spent,
          reserved,
        ]),
      ),
    ],
  };
}

function callsSection({ calls }: RunReport): ReportSection {
  const { by_status: statuses, first_at: first, last_at: last, windows } = calls;
  return {
    id: 'calls',
    title: 'Calls against the limit',
    lead:
      first === null || last === null
        ? 'No call was made.'
        : `${formatCount(countSentCalls(statuses), 'call')} from ${formatSecond(first)} to ${formatSecond(last)}. ` +
          'All runs at one service share its limits. The limits are the current ones.',
    tables: [
      tableOfNumbers(
        'Maximum calls in a trailing window, of all runs',
        ['Limit', 'Maximum', 'Share of the limit'],
        windows.map(({ limit, seconds, peak }) => [
          formatRateLimits([{ calls: limit, seconds }]),
          peak,
          formatPercent(peak, limit),
        ]),
      ),
      tableOfNumbers(
        'Calls by status',
        ['Status', 'Calls'],
        Object.entries(statuses).map(([status, number]) => [
          status === 'released' ? 'released, never sent' : status,
          number,
        ]),
      ),
    ],
  };
}

function lateResultsSection({ late_results: late }: RunReport): ReportSection {
  const figures: [string, number][] = [
    ['calls that wait for late results', late.awaited],
    ['calls without late results at their deadline, which hold their credits', late.expired],
    ['deliveries with effect', late.arrived],
    ['– fetched by a poll', late.polled],
    ['– after the end of the run', late.late],
    ['repeated deliveries', late.duplicate],
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
    tables: [tableOfNumbers('Late results', ['Kind', 'Count'], none ? [] : figures)],
  };
}

function runSection({ run }: RunReport): ReportSection {
  const { reveal, waterfall } = run.asked_for;
  const extras = [...reveal.map((kind) => `reveal ${kind}`), ...waterfall.map((kind) => `waterfall ${kind}`)];
  const facts: [string, string | null][] = [
    ['run', run.run_id],
    ['status', words(run.status)],
    ['reason', run.reason],
    ['file', run.file],
    ['SHA-256 of the file', run.file_sha256],
    ['source', run.source],
    ['service', describeServiceOfRun(run.service)],
    ['asked for', ['profile', ...extras].join(', ')],
    ['priority', run.priority],
    ['plan', run.plan_hash],
    ['created', formatSecond(run.created_at)],
    ['approved', run.approved_at && formatSecond(run.approved_at)],
    ['ended', run.finished_at && formatSecond(run.finished_at)],
    ['duration', formatElapsed(run.seconds)],
    ['cancelled', run.cancelled && formatSecond(run.cancelled.at)],
    ['reason for cancellation', run.cancelled?.reason ?? null],
    ['undone', run.undone && `${formatSecond(run.undone.at)} by ${run.undone.by}`],
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
        rows: facts.flatMap(([name, value]) => (value === null ? [] : [[name, escapeControlsInLine(value)]])),
      },
    ],
  };
}

/** A name such as `not_found` as words for readers. */
function words(name: string): string {
  return name.replaceAll('_', ' ');
}

function fieldName(field: string): string {
  if (field === 'linkedin_url') return 'LinkedIn profile';
  return field === 'title' ? 'job title' : words(field);
}

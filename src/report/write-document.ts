import { answeredOutcomes, isOutcome, outcomeFacts } from '../domain/runs/outcome.ts';
import { formatCredits, parseCredits } from '../domain/money/decimal.ts';
import { formatRateLimits } from '../domain/rates/rate-limit.ts';
import { creditsSection } from './credits-section.ts';
import type { ReportDocument, Section, Table } from './document.ts';
import type { RunReport } from './report.ts';
import {
  count,
  counted,
  credits,
  duration,
  fieldName,
  moment,
  price,
  share,
  visible,
  words,
} from './wording.ts';

/** Puts a report into words. */
export function documentOf(report: RunReport): ReportDocument {
  const { run } = report;
  return {
    title: `Enrichment report: ${visible(run.file)}`,
    subtitle: `${run.run_id}, ${words(run.status)}${run.undone ? ', undone' : ''}`,
    headline: headlineOf(report),
    actions: report.needs_person.map(({ what, next }) => ({ what: visible(what), next: visible(next) })),
    sections: [
      outcomesSection(report),
      coverageSection(report),
      creditsSection(report),
      callsSection(report),
      lateSection(report),
      runSection(report),
    ],
    footer: `Made ${moment(report.generated_at)} by enrich report ${run.run_id}. Holds no data of the people in the file.`,
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
    { label: 'Rows enriched', value: count(enriched), note: `of ${counted(run.rows, 'row')} in the file` },
    { label: 'Match rate', value: share(enriched, asked), note: `of ${counted(asked, 'answered row')}` },
    {
      label: 'Credits settled',
      value: credits(money.settled.total),
      note:
        money.held.total === '0'
          ? `${counted(sent(calls.by_status), 'call')}, nothing held`
          : `${credits(money.held.total)} more held`,
    },
    {
      label: 'Per verified email',
      value: email?.each ? price(email.each) : '–',
      note: `credits, for ${counted(email?.count ?? 0, 'email')}`,
    },
    { label: 'Bought nothing', value: credits(wasted), note: wasted === '0' ? 'no credits' : 'credits' },
  ];
}

function outcomesSection({ run, outcomes }: RunReport): Section {
  const rows = Object.entries(outcomes).map(([outcome, number]) => [
    words(outcome),
    count(number),
    share(number, run.rows),
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
        rows: [...rows, ['all rows', count(run.rows), share(run.rows, run.rows), '']],
      },
    ],
  };
}

const openRows = 'not decided yet';

function coverageSection({ coverage }: RunReport): Section {
  const { contacts, fields } = coverage;
  const title = 'Coverage before and after';
  if (fields.length === 0) {
    const lead = 'What the file held is not known any more: its rows were kept long enough (RETENTION).';
    return { id: 'coverage', title, lead, tables: [] };
  }
  return {
    id: 'coverage',
    title,
    lead: `Of ${counted(contacts, 'contact')} in the file (without duplicates and unreadable rows), how many have each field: in the export, and with what the warehouse holds now. A dash: the export has no column for it.`,
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
          before === null ? '–' : count(before),
          count(after),
          `+${count(gained)}`,
          before === null ? '–' : share(before, contacts),
          share(after, contacts),
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
        : `${counted(sent(statuses), 'call')} from ${moment(first)} to ${moment(last)}. All runs at one service share its limits, which are drawn as they are set now.`,
    tables: [
      ...(windows.length === 0
        ? []
        : [
            {
              caption: 'The fullest trailing window, with the calls of all runs',
              columns: [
                { title: 'Limit' },
                { title: 'Most calls', numeric: true },
                { title: 'Share of the limit', numeric: true },
              ],
              rows: windows.map(({ limit, seconds, peak }) => [
                formatRateLimits([{ calls: limit, seconds }]),
                count(peak),
                share(peak, limit),
              ]),
            } satisfies Table,
          ]),
      {
        caption: 'Calls by status',
        columns: [{ title: 'Status' }, { title: 'Calls', numeric: true }],
        rows: Object.entries(statuses).map(([status, number]) => [
          status === 'released' ? 'released, never sent' : status,
          count(number),
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
    ['calls that still wait for results', late.awaited],
    ['calls whose results did not come in time', late.expired],
    ['deliveries that took effect', late.arrived],
    ['– of them fetched by a poll', late.polled],
    ['– of them after the run had ended', late.late],
    ['deliveries that came again', late.duplicate],
    ['deliveries for nobody who was asked for', late.orphaned],
    ['deliveries that cannot be understood', late.quarantined],
    ['deliveries not looked at yet', late.waiting],
  ];
  const took =
    late.median_seconds === null || late.longest_seconds === null
      ? ''
      : ` Half of them came within ${duration(late.median_seconds)} of the answer, the last after ${duration(late.longest_seconds)}.`;
  const none = figures.every(([, number]) => number === 0);
  return {
    id: 'late-results',
    title: 'Late results',
    lead: none
      ? 'Nothing came later, and nothing is waited for.'
      : `Phones and waterfalls come after the answer, by webhook or by poll.${took}`,
    tables: none
      ? []
      : [
          {
            caption: 'Late results',
            columns: [{ title: 'What' }, { title: 'Count', numeric: true }],
            rows: figures.map(([what, number]) => [what, count(number)]),
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
    ['file’s SHA-256', run.file_sha256],
    ['source', run.source],
    ['service', run.service],
    ['asked for', ['profile', ...extras].join(', ')],
    ['priority', run.priority],
    ['plan', run.plan_hash],
    ['ordered', moment(run.created_at)],
    ['allowed to spend', run.approved_at && moment(run.approved_at)],
    ['ended', run.finished_at && moment(run.finished_at)],
    [run.finished_at === null ? 'so far' : 'took', duration(run.seconds)],
    ['undone', run.undone && `${moment(run.undone.at)} by ${run.undone.by}`],
    ['undone because', run.undone?.reason ?? null],
  ];
  return {
    id: 'run',
    title: 'What ran',
    lead: '',
    tables: [
      {
        caption: 'The run',
        columns: [{ title: 'What' }, { title: 'Value' }],
        rows: facts.flatMap(([name, value]) => (value === null ? [] : [[name, visible(value)]])),
      },
    ],
  };
}

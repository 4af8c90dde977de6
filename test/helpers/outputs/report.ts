import type { RunReport } from '../../../src/outputs/report-output.ts';

/** A report of an invented run with every kind of event. */
export function reportWith(differing: Partial<RunReport> = {}): RunReport {
  return {
    report_version: 1,
    generated_at: '2026-11-21T10:00:00.000Z',
    run: {
      run_id: 'run-20261121-080000-abc123',
      status: 'finished',
      reason: null,
      next: null,
      file: 'contacts.csv',
      file_sha256: 'f00d',
      rows: 1_200,
      source: 'hubspot',
      service: 'sandbox',
      asked_for: { reveal: ['phone'], waterfall: [] },
      priority: 'nightly',
      plan_hash: '0123456789abcdef',
      created_at: '2026-11-21T08:00:00.000Z',
      approved_at: '2026-11-21T08:00:05.000Z',
      finished_at: '2026-11-21T09:30:00.000Z',
      seconds: 5_400,
      cancelled: null,
      undone: null,
    },
    outcomes: { enriched: 1_000, not_found: 150, identity_mismatch: 40, over_budget: 10 },
    contested_rows: 0,
    lost_contacts: [{ reason: 'another contact could be this person as well', rows: 3 }],
    coverage: {
      contacts: 1_200,
      fields: [
        { field: 'email', before: 800, after: 1_100, gained: 300 },
        { field: 'verified_email', before: null, after: 900, gained: 900 },
      ],
    },
    credits: {
      settled: { total: '1840.5', records: '1040', phones: '800', waterfall: '0', decided: '0.5' },
      held: { total: '90', in_flight: '0', awaiting: '0', unknown: '90' },
      planned: { minimum: '0', low: '1500', expected: '1700.25', high: '1900', worst_case: '10800' },
      budgets: [{ budget: 'day:2026-11-21', limit: '5000', settled: '1840.5', reserved: '90' }],
    },
    waste: [{ kind: 'no_contact', count: 40, credits: '40' }],
    costs: [
      { field: 'contact', count: 1_000, credits: '1840.5', each: '1.8405' },
      { field: 'verified_email', count: 0, credits: '1040.5', each: null },
      { field: 'phone', count: 100, credits: '800', each: '8' },
    ],
    calls: {
      by_status: { settled: 119, unknown: 1 },
      first_at: '2026-11-21T08:00:06.000Z',
      last_at: '2026-11-21T09:29:00.000Z',
      windows: [{ limit: 600, seconds: 3_600, peak: 140 }],
    },
    late_results: {
      awaited: 0,
      expired: 1,
      arrived: 119,
      late: 3,
      polled: 2,
      duplicate: 4,
      quarantined: 0,
      waiting: 0,
      median_seconds: 75,
      longest_seconds: 4_000,
    },
    needs_person: [{ what: 'The cost of 1 call is not known.', next: 'enrich attempts list' }],
    ...differing,
  };
}

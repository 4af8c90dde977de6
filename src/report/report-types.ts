import type { Printed } from '../contract/schema-fields.ts';
import type { report } from '../outputs/report-output.ts';

/**
 * The report of a run, exactly as `--format json` prints it; the schema describes the fields. Names are stable. Of the
 * people in the file it has no data; of the file, its name.
 */
export type RunReport = Printed<typeof report>;

export type ReportedRun = RunReport['run'];
export type LostContacts = RunReport['lost_contacts'][number];
export type Coverage = RunReport['coverage'];
export type FieldCoverage = Coverage['fields'][number];
export type ReportedCredits = RunReport['credits'];
export type Waste = RunReport['waste'][number];
export type FieldCost = RunReport['costs'][number];
export type Calls = RunReport['calls'];
export type CallWindow = Calls['windows'][number];
export type ReportedLateResults = RunReport['late_results'];
export type Action = RunReport['needs_person'][number];

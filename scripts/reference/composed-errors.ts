/** Error types that the code composes, by their template: * stands for the part that varies. */
export const computedTypes: Readonly<Record<string, readonly string[]>> = {
  '*.unknown': ['attempt.unknown', 'delivery.unknown'],
  '*.ambiguous': ['attempt.ambiguous', 'delivery.ambiguous'],
  '*.start': ['postgres.start', 'sandbox.start', 'temporal.start'],
  '*.unreachable': ['export.unreachable', 'output.unreachable'],
  '*.*': ['export.no-credentials', 'output.missing', 'output.no-credentials', 'output.refused'],
};

/**
 * Matches literals that look like an error type but name something else, such as a file, a column or a trace attribute.
 */
export const noErrors: RegExp = new RegExp(
  [
    String.raw`\.(?:json|ndjson|log|pid|db|tmp|part|previous|csv|example|new|query|partial)$`,
    String.raw`^(?:c|r|excluded|runs|enrich)\.`,
    String.raw`^(?:attempts\.status|contact\.email|error\.type|organization\.name)$`,
    String.raw`^(?:service\.name|service\.version|temporal\.attempt)$`,
  ].join('|'),
);

const writeMapping =
  'write a JSON or YAML file such as {"columns": {"email": "E-mail"}}; docs/guides/exports.md has the fields';

const noCredentials = [
  'no credentials or no region for S3 found',
  'set AWS_REGION, and AWS_ACCESS_KEY_ID with AWS_SECRET_ACCESS_KEY or AWS_PROFILE; or give the machine a role',
] as const;

const writeAll =
  'write all contacts with enrich export --output FILE --json, and continue after the cursor that it prints';

const afterWorker = 'enrich doctor checks the set-up; then run the command again, which continues the run';

/** Texts of errors that the code composes from parts. The reference cannot read these texts from the code. */
export const composedErrors: Readonly<Record<string, readonly [what: string, next: string]>> = {
  'attempt.ambiguous': [
    'the id names more than one call',
    'write more of the id; enrich attempts list shows the ids',
  ],
  'attempt.unknown': ['there is no call with this id', 'enrich attempts list shows the ids'],
  'changes.cursor-ahead': ['the cursor is of another warehouse, or from before a restore', writeAll],
  'changes.cursor-invalid': ['the text is no cursor', writeAll],
  'changes.cursor-too-old': ['changes after the cursor are no longer kept', writeAll],
  'delivery.ambiguous': [
    'the id names more than one delivery',
    'write more of the id; enrich inbox list shows the ids',
  ],
  'delivery.unknown': ['there is no delivery with this id', 'enrich inbox list shows the ids'],
  'export.address': [
    'no export is named, or the text is no URL that exports can be fetched from',
    'name one of: a file, https://…, s3://bucket/key, - for standard input, or --query',
  ],
  'export.no-credentials': noCredentials,
  'export.pattern': [
    'the pattern cannot name exports',
    'name the folder in full, and use * and ? only in the name of the file; {date} may stand for the date',
  ],
  'mapping.invalid': [
    'the mapping file has an unknown key or value',
    'docs/guides/exports.md lists all fields',
  ],
  'mapping.missing': ['the mapping file does not exist', writeMapping],
  'mapping.unreadable': ['the mapping file cannot be read, or is neither JSON nor YAML', writeMapping],
  'match.no-slot': ['no call is possible now', 'try again later; enrich usage shows the calls that are left'],
  'output.missing': ['there is no such bucket', 'check bucket and key, and the region (AWS_REGION)'],
  'output.no-credentials': noCredentials,
  'output.refused': [
    'S3 does not take the file',
    'check the credentials, their rights (s3:PutObject, s3:AbortMultipartUpload) and the region (AWS_REGION)',
  ],
  'policy.invalid': [
    'the text is not FIELD=POLICY, or has an unknown name',
    'docs/guides/crm-import.md lists fields and policies',
  ],
  'postgres.start': [
    'the embedded PostgreSQL did not start',
    'read the log that the error names, or set DATABASE_URL to a PostgreSQL of yours',
  ],
  'run.*': ['a call found its run paused or ended', 'enrich status RUN shows the status and the next step'],
  'run.cancelled': ['an operator cancelled the run', 'enrich cancel RUN waits until the run has ended'],
  'run.failed': ['a run of a schedule failed', 'the message names the export; enrich status lists the runs'],
  'sandbox.start': [
    'the embedded sandbox did not start',
    'read the log that the error names; run npm run build',
  ],
  'scenario.invalid': [
    'the scenario cannot be read',
    'correct the file; docs/reference/sandbox.md describes rules',
  ],
  'schedule.invalid': [
    'a flag of the schedule cannot be used, or contradicts another flag',
    'the message names the flag and an example',
  ],
  'server.still-ending': [
    'the embedded server of an earlier command is still ending',
    'run the same command again',
  ],
  'service.*': [
    'a call failed in a way that pauses the run',
    'the part after the dot is a type of the table below',
  ],
  'setting.invalid': [
    'a setting, a flag or a combination of flags cannot be used',
    'the message names the setting and what to write; docs/reference/settings.md, docs/reference/commands.md',
  ],
  'sql.refused': [
    'PostgreSQL refuses the statement',
    'docs/reference/tables.md has the tables; enrich sql only reads',
  ],
  'temporal.start': [
    'the embedded Temporal server did not start, or does not answer',
    'run the same command again; if this repeats, read the log that the error names',
  ],
  'truth.unreadable': [
    'the file of --truth cannot be read, or has unknown columns',
    'write contact_id or email as the key, and each other column once, such as title',
  ],
  unforeseen: ['the command met a failure that it does not know', 'the message says what to do first'],
  usage: ['the command, an argument or a flag is not known', 'enrich COMMAND --help shows what it takes'],
  'worker.failed': ['the worker failed', afterWorker],
  'worker.not-started': ['the worker cannot start', afterWorker],
};

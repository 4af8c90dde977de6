import { writeFile } from 'node:fs/promises';
import { extname, resolve } from 'node:path';
import { UsageProblem } from '../../domain/problem.ts';
import { formatNumber } from '../../domain/text/format.ts';
import { asUnwritable } from '../../files/write-whole-file.ts';
import { gatherReport } from '../../report/gather.ts';
import { renderReport, reportFormats, type ReportFormat } from '../../report/render.ts';
import { readRunFacts } from '../../runs/read-run-facts.ts';
import { listRuns } from '../../runs/runs.ts';
import {
  runArgumentHelp,
  correctedFacts,
  describeUiAddress,
  describeMissingCalls,
  printRun,
  readRunView,
  shortRunId,
} from '../run/run-status.ts';
import { type Session } from '../session/session.ts';
import { Command, Option, wholeNumberParser, type CommonFlags } from '../terminal/command.ts';
import {
  commandAsTyped,
  fits,
  formatRecords,
  print,
  printFacts,
  printProgress,
  terminalWidth,
  write,
} from '../terminal/output.ts';

export function statusCommand(): Command {
  return new Command('status')
    .description('Show the status and figures of a run, or list the newest runs.')
    .argument('[run]', runArgumentHelp)
    .option('--json', 'result as one JSON object; without a run, as one JSON array')
    .option('--limit <n>', 'maximum number of runs', wholeNumberParser(1, 10_000), 20)
    .examples('\n  enrich status\n  enrich status latest --json')
    .onWarehouse(async (session, runId: string | undefined, options: CommonFlags & { limit: number }) => {
      if (runId === undefined) return showRuns(session, options);
      const view = await readRunView(session, await readRunFacts(session.warehouse, runId));
      printRun(view, options.json === true);
      if (session.config.temporalAddress === undefined) return;
      const uiAddress = describeUiAddress(session, view.facts.run_id);
      if (uiAddress !== undefined) (options.json === true ? printProgress : print)(`  ${uiAddress}`);
    });
}

/** Lists the newest runs. A narrow terminal shows the last six characters of ids, and shortened file names. */
async function showRuns(session: Session, { json, limit }: CommonFlags & { limit: number }): Promise<void> {
  const { warehouse } = session;
  const views = [];
  for (const { runId } of await listRuns(warehouse, limit))
    views.push(await correctedFacts(session, await readRunFacts(warehouse, runId)));
  const rows = views.map(({ facts, status }) => ({
    run: facts.run_id,
    status: facts.undone ? `${status}, undone` : status,
    rows: facts.rows,
    calls: facts.calls,
    credits: formatNumber(facts.credits.settled),
    file: facts.file,
  }));
  const none = 'no runs yet: enrich run FILE begins one';
  const whole = formatRecords(rows, undefined, none);
  const width = terminalWidth(process.stdout);
  const short = rows.map((row) => ({ ...row, run: shortRunId(row.run) }));
  const file = Object.keys(rows[0] ?? {}).indexOf('file');
  const list = fits(whole, width)
    ? whole
    : formatRecords(short, undefined, none, { width, cutFirst: [file] });
  printFacts<'run-list'>(
    json,
    views.map(({ facts }) => facts),
    list,
  );
  const hint = json === true ? printProgress : print;
  for (const { facts, status } of views)
    if (status !== facts.status && facts.reason !== null)
      hint(`  ${facts.run_id}: ${facts.reason}\n  next: ${facts.next ?? ''}`);
}

const formatOfExtension: Readonly<Record<string, ReportFormat>> = {
  '.html': 'html',
  '.htm': 'html',
  '.md': 'markdown',
  '.json': 'json',
  '.txt': 'markdown',
  '': 'markdown',
};

interface ReportFlags {
  readonly format?: ReportFormat;
  readonly output?: string;
  readonly truth?: string;
}

/** Takes the format from the file's extension. Without a file or an extension: Markdown. */
function formatOf(output: string): ReportFormat {
  const extension = extname(output).toLowerCase();
  const format = formatOfExtension[extension];
  if (format !== undefined) return format;
  throw new UsageProblem('setting.invalid', `enrich report writes no ${extension} files`, {
    where: `--output ${output}`,
    next: 'name a file that ends in .html, .md, .json or .txt, or give a --format',
  });
}

export function reportCommand(): Command {
  return new Command('report')
    .description('Report on a run: outcomes, coverage, credits and waste, calls, late results.')
    .argument('<run>', runArgumentHelp)
    .addOption(new Option('--format <format>', 'default: by the file’s extension').choices(reportFormats))
    .option('--output <file>', 'file, which is replaced (default: standard output)')
    .option(
      '--truth <file>',
      'CSV file of known values to compare with: contact_id or email, and columns such as title, phone',
    )
    .examples(`
  enrich report latest
  enrich report latest --output report.html`)
    .explain(`
The HTML page is one file that needs no network. No report holds data of the people in the file.`)
    .onWarehouse(async (session, runId: string, options: ReportFlags) => {
      const { warehouse, config } = session;
      const { rateLimits } = config;
      const { truth } = options;
      const output = options.output === '-' ? undefined : options.output;
      const format = options.format ?? formatOf(output ?? '');
      const report = await gatherReport(warehouse, runId, { rateLimits, now: new Date(), truth });
      const text = renderReport(report, format);
      const facts = await readRunFacts(warehouse, runId);
      const missingCallsNotice = await describeMissingCalls(session, facts);
      if (missingCallsNotice !== undefined) printProgress(missingCallsNotice);
      if (output !== undefined) {
        const path = resolve(output);
        await writeFile(path, text).catch((error: unknown) => {
          throw asUnwritable(error, 'the report', path);
        });
        printProgress(`written to ${path}`);
      } else {
        // The operator reads Markdown here, so its commands are as this shell knows them. HTML and JSON are for files.
        write(process.stdout, format === 'markdown' ? commandAsTyped(text) : text);
      }
    });
}

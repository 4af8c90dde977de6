import { writeFile } from 'node:fs/promises';
import { extname, resolve } from 'node:path';
import { Command, Option } from '../terminal/command.ts';
import { UsageProblem } from '../../domain/problem.ts';
import { asUnwritable } from '../../files/write-whole-file.ts';
import { gatherReport } from '../../report/gather.ts';
import { renderReport, reportFormats, type ReportFormat } from '../../report/render.ts';
import { anyRun } from '../run/run-status.ts';
import { print, tell, write } from '../terminal/output.ts';
import { onWarehouse } from '../session/session.ts';

const formatOfExtension: Readonly<Record<string, ReportFormat>> = {
  '.html': 'html',
  '.htm': 'html',
  '.md': 'markdown',
  '.json': 'json',
  '.txt': 'terminal',
  '': 'terminal',
};

interface ReportFlags {
  readonly format?: ReportFormat;
  readonly output?: string;
  readonly truth?: string;
}

/** @throws UsageProblem if no format of a report has the file's extension */
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
    .argument('<run>', anyRun)
    .addOption(new Option('--format <format>', 'default: by the file’s extension').choices(reportFormats))
    .option('--output <file>', 'file, which is replaced (default: standard output)')
    .option(
      '--truth <file>',
      'CSV file of known values to compare with: contact_id or email, and columns such as title, phone',
    )
    .explain(`
The HTML page is one file that needs no network. No report holds data of the people in the file.

Examples:
  enrich report latest
  enrich report latest --output report.html`)
    .action(
      onWarehouse(async ({ warehouse, config: { rateLimits } }, runId: string, options: ReportFlags) => {
        const { truth } = options;
        const output = options.output === '-' ? undefined : options.output;
        const format = options.format ?? formatOf(output ?? '');
        const report = await gatherReport(warehouse, runId, { rateLimits, now: new Date(), truth });
        const text = renderReport(report, format);
        if (output !== undefined) {
          const path = resolve(output);
          await writeFile(path, text).catch((error: unknown) => {
            throw asUnwritable(error, 'the report', path);
          });
          tell(`written to ${path}`);
        } else if (format === 'terminal') print(text.trimEnd());
        else write(process.stdout, text);
      }),
    );
}

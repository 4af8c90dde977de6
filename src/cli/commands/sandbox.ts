import { portTakenProblem, UsageProblem } from '../../domain/problem.ts';
import { InvalidArgumentError } from 'commander';
import { Command, parseShare, wholeNumberParser, readYamlFile } from '../terminal/command.ts';
import { z } from 'zod';
import { scenarioSchema, type Scenario } from '../../sandbox/faults.ts';
import { parseWindowLimits } from '../../sandbox/rate-windows.ts';
import { defaultApiKey } from '../../sandbox/server.ts';
import { startSandbox, type SandboxOptions } from '../../sandbox/server.ts';
import { print } from '../terminal/output.ts';
import { untilStopped } from '../session/session.ts';

interface SandboxFlags extends Omit<SandboxOptions, 'now' | 'scenario'> {
  readonly port: number;
  readonly apiKey: string;
  readonly scenario?: string;
  readonly clock?: () => number;
}

export function sandboxCommand(): Command {
  return new Command('sandbox')
    .description('Run the enrichment service on this machine, with invented people, at no cost.')
    .option(
      '--port <n>',
      'port on 127.0.0.1 (0: a free one; SANDBOX_PORT)',
      wholeNumberParser(0, 65_535),
      Number(process.env['SANDBOX_PORT'] || 8650),
    )
    .option('--api-key <key>', 'accepted key', defaultApiKey)
    .option('--rate-limits <limits>', 'fixed windows per operation, or unlimited', rateLimits, '600/hour')
    .option(
      '--match-rate <share>',
      'share of the people in your export that the sandbox knows',
      parseShare,
      0.82,
    )
    .option('--person-bytes <n>', 'approximate bytes of JSON per person', wholeNumberParser(0), 6_000)
    .option('--latency <ms>', 'milliseconds that every answer takes', wholeNumberParser(0), 40)
    .option(
      '--late-delay <ms>',
      'longest time in milliseconds until phones and waterfall results exist',
      wholeNumberParser(0),
      3_000,
    )
    .option('--seed <n>', 'number that decides which people are invented', wholeNumberParser(0), 1)
    .option('--scenario <file>', 'faults to produce, as JSON or YAML (docs/reference/sandbox.md)')
    .option('--clock <time>', 'time to start at, such as 2027-03-01T00:00:00Z', clockFrom)
    .option(
      '--state-directory <folder>',
      'folder that keeps log, bill, late results and the use of rate windows over restarts',
    )
    .examples(`
  enrich sandbox --port 8650 --rate-limits 20/10s
  export ENRICHMENT_BASE_URL=http://127.0.0.1:8650/api/v1
  ENRICHMENT_API_KEY=${defaultApiKey} enrich run contacts.csv
  curl http://127.0.0.1:8650/sandbox/bill`)
    .action(async (flags: SandboxFlags) => {
      const sandbox = await startSandbox({
        ...flags,
        now: flags.clock ?? Date.now,
        scenario: flags.scenario === undefined ? undefined : await readScenario(flags.scenario),
      }).catch((error: unknown) => {
        if ((error as NodeJS.ErrnoException).code !== 'EADDRINUSE') throw error;
        const otherPort = 'choose another port; --port 0 takes a free one';
        throw portTakenProblem(flags.port, 'the sandbox', '--port (SANDBOX_PORT)', otherPort, error);
      });
      print(`service   ${sandbox.baseUrl}`);
      print(`control   ${sandbox.controlUrl}/bill, /log, /late, /deliveries, PUT /scenario`);
      print(`key       ${flags.apiKey}`);
      await untilStopped();
      await sandbox.close();
    });
}

/** Parses a time. Returns a clock (milliseconds since 1970) that shows this time now and then runs on. */
function clockFrom(start: string): () => number {
  const ahead = Date.parse(start) - Date.now();
  if (Number.isNaN(ahead)) throw new InvalidArgumentError('Write a time such as 2027-03-01T00:00:00Z.');
  return () => Date.now() + ahead;
}

/** Checks limits while Commander parses the flags, so that an error names the flag. Returns the text unchanged. */
function rateLimits(text: string): string {
  try {
    parseWindowLimits(text);
    return text;
  } catch (error) {
    throw new InvalidArgumentError((error as RangeError).message);
  }
}

const afterWrongScenario = 'correct the file; docs/reference/sandbox.md describes rules';

/** Reads faults from a JSON or YAML file. @throws UsageProblem `scenario.invalid` with the place in the file */
async function readScenario(file: string): Promise<Scenario> {
  const content = await readYamlFile(
    file,
    'the scenario',
    (what, cause) =>
      new UsageProblem('scenario.invalid', what, { where: file, next: afterWrongScenario, cause }),
  );
  const checked = scenarioSchema.safeParse(content);
  if (checked.success) return checked.data;
  const [{ path, message }] = checked.error.issues as [z.core.$ZodIssue];
  const place = z.core.toDotPath(path);
  throw new UsageProblem('scenario.invalid', `the scenario is not understood: ${message}`, {
    where: place === '' ? file : `${file}, ${place}`,
    next: afterWrongScenario,
  });
}

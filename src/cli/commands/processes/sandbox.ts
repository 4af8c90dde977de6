import { describeCode } from '../../../domain/error-code.ts';
import { readFile } from 'node:fs/promises';
import { InvalidArgumentError } from 'commander';
import { Command, Option, share, wholeNumber, readYamlFile } from '../../terminal/command.ts';
import { z } from 'zod';
import { portTaken } from '../../../domain/port-taken.ts';
import { UsageProblem } from '../../../domain/problem.ts';
import { openApi } from '../../../sandbox/interface/openapi.ts';
import { parseWindowLimits } from '../../../sandbox/account/rate-window.ts';
import { scenarioSchema, type Scenario } from '../../../sandbox/faults/scenario.ts';
import { defaultApiKey, startSandbox, type SandboxOptions } from '../../../sandbox/server/server.ts';
import { print } from '../../terminal/output.ts';
import { untilStopped } from '../../session/session.ts';

/** Options of the sandbox that have a flag of the same name. */
type OwnOption =
  | 'rateLimits'
  | 'matchRate'
  | 'people'
  | 'personBytes'
  | 'latency'
  | 'lateDelay'
  | 'seed'
  | 'loggedCalls'
  | 'stateDirectory';

interface SandboxFlags extends Pick<SandboxOptions, OwnOption> {
  readonly port: number;
  readonly apiKey?: string;
  readonly apiKeyFile?: string;
  readonly masterKey?: string;
  readonly scopes?: string[];
  readonly accessToken?: string;
  readonly tokenCalls?: number;
  readonly tokenSeconds?: number;
  readonly scenario?: string;
  readonly checkScenario?: string;
  readonly clock?: number;
  readonly openapi?: true;
}

export function sandboxCommand(): Command {
  return new Command('sandbox')
    .description('Run the enrichment service on this machine, with invented people, at no cost.')
    .addOption(portOption())
    .option('--api-key <key>', `accepted key (default ${defaultApiKey})`)
    .option('--api-key-file <file>', 'file with the accepted key')
    .option(
      '--scopes <paths...>',
      'paths that this key may call, such as /people/match (default: all, a master key)',
    )
    .option('--master-key <key>', 'second key, which may call everything')
    .option('--access-token <token>', 'accepted OAuth token')
    .option('--token-calls <n>', 'calls until an access token expires', wholeNumber(1))
    .option('--token-seconds <n>', 'seconds until an access token expires', wholeNumber(1))
    .option('--rate-limits <limits>', 'fixed windows per operation, or unlimited', rateLimits, '600/hour')
    .option('--match-rate <share>', 'share of the people in your export whom the sandbox knows', share, 0.82)
    .option('--people <n>', 'people in the sandbox’s own population', wholeNumber(1), 100_000)
    .option('--person-bytes <n>', 'approximate bytes of JSON per person', wholeNumber(0), 6_000)
    .option('--latency <ms>', 'milliseconds that every answer takes', wholeNumber(0), 40)
    .option(
      '--late-delay <ms>',
      'longest time in milliseconds until phones and waterfall results exist',
      wholeNumber(0),
      3_000,
    )
    .option('--seed <n>', 'number that decides which people are invented', wholeNumber(0), 1)
    .option('--scenario <file>', 'faults to produce, as JSON or YAML (docs/sandbox.md)')
    .option('--check-scenario <file>', 'scenario file to check, without starting')
    .option('--clock <time>', 'time to start at, such as 2027-03-01T00:00:00Z', time)
    .option('--logged-calls <n>', 'calls whose details are kept in memory', wholeNumber(0), 100_000)
    .option(
      '--state-directory <folder>',
      'folder that keeps log, bill, late results and the use of rate windows over restarts',
    )
    .option('--openapi', 'print the OpenAPI description of the sandbox, without starting')
    .explain(`
Examples:
  enrich sandbox --port 8650 --rate-limits 20/10s
  ENRICHMENT_BASE_URL=http://127.0.0.1:8650/api/v1 ENRICHMENT_API_KEY=${defaultApiKey} enrich run contacts.csv
  curl http://127.0.0.1:8650/sandbox/bill`)
    .action(async (flags: SandboxFlags) => {
      if (flags.checkScenario !== undefined) {
        await readScenario(flags.checkScenario);
        print('the scenario is valid');
        return;
      }
      if (flags.openapi) {
        print(JSON.stringify(openApi(), undefined, 2));
        return;
      }
      const apiKey = await apiKeyOf(flags);
      const lifetime = { calls: flags.tokenCalls, seconds: flags.tokenSeconds };
      const sandbox = await startSandbox({
        ...flags,
        apiKeys: [
          { key: apiKey, scopes: flags.scopes },
          ...(flags.masterKey === undefined ? [] : [flags.masterKey]),
        ],
        accessTokens: flags.accessToken === undefined ? [] : [{ token: flags.accessToken, ...lifetime }],
        issuedTokens: lifetime,
        now: clockFrom(flags.clock),
        scenario: flags.scenario === undefined ? undefined : await readScenario(flags.scenario),
      }).catch((error: unknown) => {
        if ((error as NodeJS.ErrnoException).code !== 'EADDRINUSE') throw error;
        const otherPort = 'choose another port; --port 0 takes a free one';
        throw portTaken(flags.port, 'the sandbox', '--port (SANDBOX_PORT)', otherPort, error);
      });
      print(`service   ${sandbox.baseUrl}`);
      print(
        `control   ${sandbox.controlUrl}/bill, /log, /late, /deliveries, /busiest?seconds=10, PUT /scenario, ` +
          'POST /token',
      );
      if (flags.apiKeyFile === undefined) print(`key       ${apiKey}`);
      await untilStopped();
      await sandbox.close();
    });
}

function portOption(): Option {
  const option = new Option('--port <n>', 'port on 127.0.0.1 (0: a free one)')
    .default(8650)
    .argParser(wholeNumber(0, 65_535));
  // An empty variable means "not set", as for all settings; commander would parse the empty text.
  return process.env['SANDBOX_PORT'] ? option.env('SANDBOX_PORT') : option;
}

function time(text: string): number {
  const milliseconds = Date.parse(text);
  if (Number.isNaN(milliseconds))
    throw new InvalidArgumentError('Write a time such as 2027-03-01T00:00:00Z.');
  return milliseconds;
}

/** A clock that shows `start` now and runs on. @param start milliseconds since 1970; undefined: the real time */
function clockFrom(start: number | undefined): () => number {
  if (start === undefined) return Date.now;
  const ahead = start - Date.now();
  return () => Date.now() + ahead;
}

/** Checks limits before the sandbox starts, so that commander's error names the flag. */
function rateLimits(text: string): string {
  try {
    parseWindowLimits(text);
    return text;
  } catch (error) {
    throw new InvalidArgumentError((error as RangeError).message);
  }
}

async function apiKeyOf(flags: SandboxFlags): Promise<string> {
  const { apiKeyFile: file, apiKey = defaultApiKey } = flags;
  if (file === undefined) return apiKey;
  const text = await readFile(file, 'utf8').catch((error: NodeJS.ErrnoException) => {
    throw new UsageProblem('setting.invalid', `the key cannot be read: ${describeCode(error.code)}`, {
      where: `--api-key-file ${file}`,
      next: 'name a file that exists and that this user may read',
      cause: error,
    });
  });
  return text.trim();
}

const afterWrongScenario = 'correct the file; docs/sandbox.md describes rules';

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

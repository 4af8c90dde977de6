import { readFile } from 'node:fs/promises';
import { Command } from 'commander';
import { parse } from 'yaml';
import { z } from 'zod';
import { Problem, exitCodes } from '../domain/problem.ts';
import { scenarioSchema, type Scenario } from '../sandbox/scenario.ts';
import { defaultApiKey, startSandbox } from '../sandbox/server.ts';
import { print } from './output.ts';

interface SandboxFlags {
  readonly port: string;
  readonly apiKey?: string;
  readonly apiKeyFile?: string;
  readonly accessToken?: string;
  readonly rateLimits: string;
  readonly matchRate: string;
  readonly personBytes: string;
  readonly latency: string;
  readonly lateDelay: string;
  readonly seed: string;
  readonly people: string;
  readonly scenario?: string;
  readonly checkScenario?: string;
  readonly stateDirectory?: string;
}

/** `enrich sandbox` */
export function sandboxCommand(): Command {
  return new Command('sandbox')
    .description(
      'run the enrichment service on this machine: invented people, real rules, a log of every call and credit',
    )
    .option('--port <n>', 'port on 127.0.0.1 (0: a free one)', process.env['SANDBOX_PORT'] || '8650')
    .option('--api-key <key>', `the key that it takes (default ${defaultApiKey})`)
    .option('--api-key-file <file>', 'the same, from a file')
    .option('--access-token <token>', 'an OAuth token that it takes as well')
    .option('--rate-limits <limits>', 'fixed windows per endpoint, or unlimited', '600/hour')
    .option('--match-rate <share>', 'share of people outside its own population whom it knows', '0.82')
    .option('--people <n>', 'people of its own population', '100000')
    .option('--person-bytes <n>', 'about so many bytes of JSON a person', '6000')
    .option('--latency <ms>', 'milliseconds that every answer takes', '40')
    .option(
      '--late-delay <ms>',
      'milliseconds until phones and waterfall results are delivered, at most',
      '3000',
    )
    .option('--seed <n>', 'another number makes another world', '1')
    .option('--scenario <file>', 'faults to produce, as JSON or YAML (docs/sandbox.md)')
    .option('--check-scenario <file>', 'only check such a file')
    .option('--state-directory <folder>', 'keep the log of calls there')
    .addHelpText(
      'after',
      `
Example:
  enrich sandbox --port 8650 --rate-limits 20/10s
  ENRICHMENT_BASE_URL=http://127.0.0.1:8650/api/v1 ENRICHMENT_API_KEY=${defaultApiKey} enrich run contacts.csv
  curl http://127.0.0.1:8650/sandbox/bill`,
    )
    .action(async (flags: SandboxFlags) => {
      if (flags.checkScenario !== undefined) {
        await readScenario(flags.checkScenario);
        print('the scenario is valid');
        return;
      }
      const sandbox = await startSandbox({
        port: Number(flags.port),
        apiKeys: [await apiKeyOf(flags)],
        accessTokens: flags.accessToken === undefined ? [] : [flags.accessToken],
        rateLimits: flags.rateLimits,
        matchRate: Number(flags.matchRate),
        people: Number(flags.people),
        personBytes: Number(flags.personBytes),
        latency: Number(flags.latency),
        lateDelay: Number(flags.lateDelay),
        seed: Number(flags.seed),
        ...(flags.scenario !== undefined && { scenario: await readScenario(flags.scenario) }),
        ...(flags.stateDirectory !== undefined && { stateDirectory: flags.stateDirectory }),
      });
      print(`service   ${sandbox.baseUrl}`);
      print(
        `control   ${sandbox.controlUrl}/bill, /log, /late, /deliveries, /busiest?seconds=10, PUT /scenario`,
      );
      if (flags.apiKeyFile === undefined) print(`key       ${await apiKeyOf(flags)}`);
      await new Promise<void>((resolve) => {
        process.once('SIGINT', resolve);
        process.once('SIGTERM', resolve);
      });
      await sandbox.close();
    });
}

async function apiKeyOf(flags: SandboxFlags): Promise<string> {
  if (flags.apiKeyFile !== undefined) return (await readFile(flags.apiKeyFile, 'utf8')).trim();
  return flags.apiKey ?? defaultApiKey;
}

async function readScenario(file: string): Promise<Scenario> {
  const checked = scenarioSchema.safeParse(parse(await readFile(file, 'utf8')));
  if (checked.success) return checked.data;
  throw new Problem('scenario.invalid', z.prettifyError(checked.error), {
    where: file,
    next: 'correct the file; docs/sandbox.md lists what a rule can say',
    exitCode: exitCodes.usage,
  });
}

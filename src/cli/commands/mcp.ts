import { once } from 'node:events';
import { McpServer } from '@modelcontextprotocol/sdk/server/mcp.js';
import { StdioServerTransport } from '@modelcontextprotocol/sdk/server/stdio.js';
import type { CallToolResult } from '@modelcontextprotocol/sdk/types.js';
import { CommanderError } from 'commander';
import { z } from 'zod';
import { namesService } from '../../config/settings.ts';
import { runFacts } from '../../contract/run-facts.ts';
import { escapeControls } from '../../domain/text/format.ts';
import { version } from '../../files/project-file.ts';
import { parseAddress } from '../../ingest/sources/export-address.ts';
import { outputs } from '../../outputs/outputs.ts';
import { gatherReport } from '../../report/gather.ts';
import { readRunFacts } from '../../runs/read-run-facts.ts';
import { readAsAnalyst } from '../mcp/analyst.ts';
import { createSharedSession } from '../mcp/shared-session.ts';
import { checkPlan, startRun } from '../mcp/start-run.ts';
import { planOutput } from '../run/describe-plan.ts';
import { planExport } from '../run/plan-export.ts';
import { withCommandFlags, type CommandFlags } from '../run/run-option-flags.ts';
import { specifyRun } from '../run/run-spec.ts';
import { runArgumentHelp, readRunView } from '../run/run-status.ts';
import { readSettings, readSettingsOfExistingWarehouse, type Session } from '../session/session.ts';
import { describeService } from '../session/with-service.ts';
import { asUsageProblem, Command } from '../terminal/command.ts';
import { problemOf, printProgress } from '../terminal/output.ts';

export function mcpCommand(): Command {
  return new Command('mcp')
    .description('Serve agents by the Model Context Protocol on standard input and output.')
    .examples(`
  npx @modelcontextprotocol/inspector enrich mcp      shows the tools in a browser
  {"mcpServers": {"enrich": {"command": "enrich", "args": ["mcp"], "env": {"ENRICH_DATA_DIR": "/srv/enrich"}}}}`)
    .explain(`
An MCP client starts this command and ends it. The tools are plan, run, status, report and sql. A run needs the hash of
its plan and a maximum of credits. No tool approves, resumes, exports or deletes (docs/guides/agents.md). Logs go to
standard error.`)
    .action(async () => {
      const stop = new AbortController();
      // An MCP client closes the standard input of its server to stop the server.
      for (const event of ['end', 'close', 'error']) process.stdin.once(event, () => stop.abort());
      const { server, closed } = createServer(stop);
      await server.connect(new StdioServerTransport());
      printProgress('serving the Model Context Protocol on standard input and output');
      if (!stop.signal.aborted) await once(stop.signal, 'abort');
      await closed();
    });
}

/** Flags that tool calls lack: results are JSON, the plan is an argument, a query would run as owner of the tables. */
const otherFlags = ['json', 'query', 'plan'];
const text = z.string().min(1);
/** Schemas of the options of a tool call, by flag. They come from the flags of the command. */
const optionOfFlag = withCommandFlags(new Command())
  .options.filter((flag) => !otherFlags.includes(flag.name()))
  .map((flag) => {
    const value = flag.argChoices ? z.enum(flag.argChoices) : z.union([text, z.array(text).min(1)]);
    return [flag.name(), value.optional().describe(flag.description)] as const;
  });
const options = z.strictObject(Object.fromEntries(optionOfFlag)).default({});
const exportInput = z.strictObject({
  // Standard input (`-`) carries the protocol, and a query would run with the rights of the tables' owner.
  file: text
    .regex(/^(?!-$|query:)/, 'is a path, https://… or s3://bucket/key')
    .describe('CSV export: a path on the machine of the server, https://… or s3://bucket/key.'),
  options: options.describe('Options of "enrich run", named as the flags. A repeatable flag takes a list.'),
});
type ExportInput = z.output<typeof exportInput>;
const runInput = exportInput.extend({
  plan_hash: text.describe(
    '"plan_hash" of the plan of this file and these options, which the user has seen.',
  ),
  max_credits: z.number().nonnegative().describe('Most credits that the user agrees to spend on the run.'),
});
const namedRun = z.strictObject({ run: text.describe(runArgumentHelp) });
const runOutput = runFacts.extend({
  waits_for: z.string().nullable().describe('What a running run waits for.'),
});
const sqlInput = z.strictObject({
  statement: text.describe(
    'One query. information_schema.columns lists the tables of the schema enrichment.',
  ),
  limit: z.int().min(1).max(1_000).default(100).describe('Most rows to return.'),
});
const sqlOutput = z.strictObject({ rows: z.array(z.record(z.string(), z.unknown())), has_more: z.boolean() });

/** Makes the server and its tools. Its sessions open at the first call, and close after `stop`. */
function createServer(stop: AbortController) {
  const config = readSettings();
  // Only `run` needs Temporal and the service. The other tools share a session without them.
  const warehouse = createSharedSession(config, { temporal: false, service: false }, stop);
  const runs = createSharedSession(config, { temporal: true, service: namesService(config) }, stop);
  const instructions =
    'Enriches the people of CRM exports, for credits. Call plan, show the user its price, and call run only after ' +
    `the user agrees. Then call status until the run has ended, and report. ${describeService(config)}.`;
  const server = new McpServer({ name: 'enrich', version }, { instructions });
  const specify = (given: ExportInput, plan?: string) => {
    const address = parseAddress(given.file, process.cwd());
    return specifyRun(address, { ...flagsOf(given.options), ...(plan !== undefined && { plan }) }, config);
  };
  const read = <Result>(task: (session: Session) => Promise<Result>): Promise<Result> => {
    // Otherwise, a call in a wrong folder would create an empty warehouse.
    readSettingsOfExistingWarehouse();
    return warehouse.use(task);
  };
  const statusOf = async (session: Session, run: string) => {
    const view = await readRunView(session, await readRunFacts(session.warehouse, run));
    return { ...view.facts, waits_for: view.notes.join('; ').trim() || null };
  };

  // Hashes of the plans that this server has shown. `run` starts no other plan.
  const shown = new Set<string>();
  addTool(server, {
    name: 'plan',
    description:
      'Plan a run: recognised columns, people, expected and worst-case credits, hash. Spends nothing.',
    inputSchema: exportInput,
    outputSchema: outputs.plan.schema,
    call: async (given) => {
      const spec = await specify(given);
      const planned = planOutput(await warehouse.use((session) => planExport(session, spec)));
      shown.add(planned.plan_hash);
      return planned;
    },
  });
  addTool(server, {
    name: 'run',
    description:
      'Start the run of a plan and return at once. Spends credits. Refused if the file, the options or the plan have ' +
      'changed, or if the plan can cost more than max_credits. The same call continues an unfinished run.',
    inputSchema: runInput,
    outputSchema: runOutput,
    call: async (given) => {
      const spec = await specify(given, given.plan_hash);
      await warehouse.use((session) => checkPlan(session, spec, { shown, maximum: given.max_credits }));
      // `checkPlan` has removed the downloaded copy of the export, so `specify` downloads the export again.
      const runId = await startRun(runs, await specify(given, given.plan_hash), stop.signal);
      return runs.use((session) => statusOf(session, runId));
    },
  });
  addTool(server, {
    name: 'status',
    description:
      'Status, outcomes, credits of a run; why it is paused, and what the operator does: no tool approves.',
    inputSchema: namedRun,
    outputSchema: runOutput,
    call: ({ run }) => read((session) => statusOf(session, run)),
  });
  addTool(server, {
    name: 'report',
    description:
      'Outcomes, coverage, credits, waste, calls and late results of a run: figures, no personal data.',
    inputSchema: namedRun,
    outputSchema: outputs.report.schema,
    call: ({ run }) => {
      const { rateLimits } = config;
      return read((session) => gatherReport(session.warehouse, run, { rateLimits, now: new Date() }));
    },
  });
  addTool(server, {
    name: 'sql',
    description:
      'Read the warehouse as an analyst. Writes nothing. Rows of people and contacts are personal data.',
    inputSchema: sqlInput,
    outputSchema: sqlOutput,
    call: async ({ statement, limit }) => {
      const rows = await read((session) => readAsAnalyst(session, statement, limit + 1));
      return { rows: rows.slice(0, limit), has_more: rows.length > limit };
    },
  });
  return { server, closed: () => Promise.all([warehouse.closed(), runs.closed()]) };
}

interface Tool<Input extends z.ZodObject> {
  readonly name: string;
  readonly description: string;
  readonly inputSchema: Input;
  readonly outputSchema: z.ZodObject;
  readonly call: (given: z.output<Input>) => Promise<object>;
}

/** Adds a tool. An error becomes a result with `isError`, so that the agent reads the type and the next step. */
function addTool<Input extends z.ZodObject>(server: McpServer, { name, call, ...tool }: Tool<Input>): void {
  const answer = async (given: z.output<Input>): Promise<CallToolResult> => {
    try {
      const result = await call(given);
      return { content: [asText(result)], structuredContent: { ...result } };
    } catch (error) {
      const failure = error instanceof CommanderError ? asUsageProblem(error, 'enrich run') : error;
      const { type, message, where = null, next } = problemOf(failure);
      return { content: [asText({ error: { type, message, where, next } })], isError: true };
    }
  };
  const annotations = { readOnlyHint: name !== 'run', idempotentHint: true };
  // The SDK has checked the input by the schema, which its types do not know.
  server.registerTool<z.ZodObject, z.ZodObject>(name, { ...tool, annotations }, answer as never);
}

function asText(value: object) {
  return { type: 'text' as const, text: escapeControls(JSON.stringify(value)) };
}

/** Parses the options of a tool call with the parser of the command's flags. @throws CommanderError */
function flagsOf(given: ExportInput['options']): CommandFlags {
  const command = withCommandFlags(new Command())
    .exitOverride()
    .configureOutput({ outputError: () => {} });
  const words = Object.entries(given).flatMap(([name, values]) =>
    [values ?? []].flat().map((value) => `--${name}=${value}`),
  );
  return command.parse(words, { from: 'user' }).opts<CommandFlags>();
}

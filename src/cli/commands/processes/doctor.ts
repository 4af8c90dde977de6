import { Command, jsonOption, type JsonFlag } from '../../terminal/command.ts';
import { misspeltSettings } from '../../../config/misspelt-settings.ts';
import { exitCodes } from '../../../domain/problem.ts';
import { examine } from '../../doctor/doctor-checks.ts';
import type { Finding } from '../../doctor/finding.ts';
import { printFacts, table } from '../../terminal/output.ts';
import { settingsWithoutWrong, withSettings } from '../../session/settings-flags.ts';

const marks = { ok: 'ok', attention: 'warning', broken: 'BROKEN' } as const;

export function doctorCommand(): Command {
  return withSettings(new Command('doctor'))
    .description(
      'Check the set-up: components in use, what is missing and how to get it. Starts and spends nothing.',
    )
    .option(...jsonOption)
    .explain(`
Examples:
  enrich doctor
  enrich doctor --json | jq '.findings[] | select(.state != "ok")'

Exit codes: 0 all good, 1 something is broken, 3 it works but something needs attention.`)
    .action(async (options: JsonFlag) => {
      const { config, wrong } = settingsWithoutWrong(options);
      const findings = await examine(config, wrong, misspeltSettings(process.env));
      const state = worst(findings);
      printFacts<'doctor'>(options.json, { state, findings }, describe(findings));
      process.exitCode = { ok: exitCodes.done, attention: exitCodes.needsPerson, broken: exitCodes.failed }[
        state
      ];
    });
}

function worst(findings: readonly Finding[]): Finding['state'] {
  for (const state of ['broken', 'attention'] as const) {
    if (findings.some((finding) => finding.state === state)) return state;
  }
  return 'ok';
}

function describe(findings: readonly Finding[]): string {
  const next = findings.flatMap((finding) =>
    finding.next === undefined ? [] : [`  ${finding.part}: ${finding.next}`],
  );
  const rows = findings.map(({ state, part, what }) => [marks[state], part, what]);
  return next.length === 0 ? table(rows) : `${table(rows)}\n\nnext\n${next.join('\n')}`;
}

import { Command } from 'commander';
import { counted } from '../../domain/text/counted.ts';
import { Problem, exitCodes } from '../../domain/problem.ts';
import { rebuild } from '../../people/rebuild.ts';
import { withWarehouse } from '../session/session.ts';
import { settingsOf, withSettings } from '../session/settings-flags.ts';
import { stopAfterBatch } from '../session/stop-signal.ts';
import { print, printJson } from '../terminal/output.ts';

/** `enrich rebuild` */
export function rebuildCommand(): Command {
  return withSettings(new Command('rebuild'))
    .description('Compute people, companies and contacts anew from the stored answers.')
    .option('--check', 'only compare, and exit with 1 where something differs')
    .option('--json', 'one JSON object')
    .addHelpText(
      'after',
      `
It runs beside workers, makes no call and costs nothing. It can be stopped at any time and given again.

Examples:
  enrich rebuild --check
  enrich rebuild`,
    )
    .action(async (options: { check?: boolean; json?: boolean }) => {
      await withWarehouse(settingsOf(options), async ({ warehouse }) => {
        const check = options.check === true;
        const figures = await rebuild(warehouse, { check, signal: stopAfterBatch() });
        const { people, contacts, differing, differences, complete } = figures;
        if (options.json === true) printJson({ check, people, contacts, differences, differing, complete });
        else {
          const what = `${counted(people, 'person', 'people')} and ${counted(contacts, 'contact')}`;
          print(`${what}: ${counted(differences, 'difference')}${check ? '' : ', corrected'}`);
          for (const key of differing) print(`  ${key}`);
        }
        if (!complete)
          throw new Problem('rebuild.interrupted', 'stopped before everything was computed', {
            where: 'enrich rebuild',
            next: 'give the same command again',
            exitCode: exitCodes.needsPerson,
          });
        if (check && differences > 0) process.exitCode = exitCodes.failed;
      });
    });
}

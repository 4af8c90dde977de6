import { join } from 'node:path';
import { Readable } from 'node:stream';
import { Command, type CommonFlags, wholeNumberParser } from '../terminal/command.ts';
import { makeFolder } from '../../files/make-folder.ts';
import { writeWholeFile } from '../../files/write-whole-file.ts';
import type { Config } from '../../config/settings.ts';
import { parseAddress } from '../../ingest/sources/export-address.ts';
import { sampleExport } from '../../sandbox/sample-export.ts';
import { printProgress } from '../terminal/output.ts';
import { enrichExport } from '../run/enrich-export.ts';
import { printRunEnd } from '../run/run-status.ts';
import { refuseMixedWarehouse, sandboxService } from '../session/with-service.ts';
import { specifyRun } from '../run/run-spec.ts';
import { withSession, readSettings } from '../session/session.ts';

const crm = 'hubspot';

/** The demo has a source of its own, so that its invented record ids never get into files for a real CRM. */
const source = 'demo';

export function demoCommand(): Command {
  return new Command('demo')
    .description('Enrich an invented export from the sandbox, at no cost.')
    .option('--people <n>', 'people in the export', wholeNumberParser(1, 1_000_000), 300)
    .option('--seed <n>', 'number that decides which people are invented', wholeNumberParser(0), 1)
    .json()
    .quiet()
    .examples('\n  enrich demo --seed 2')
    .action(async (options: { people: number; seed: number } & CommonFlags) => {
      // The demo runs embedded: workers of a server would call the service of their own settings.
      const config = readSettings({
        ENRICHMENT_BASE_URL: '',
        TEMPORAL_ADDRESS: '',
        WEBHOOK_PUBLIC_URL: '',
        LATE_RESULTS_POLL_AFTER: '15s',
        LATE_RESULTS_DEADLINE: '60s',
      });
      printProgress(sandboxService);
      const ofService = ['ENRICHMENT_BASE_URL', 'TEMPORAL_ADDRESS'].filter((name) => process.env[name]);
      if (ofService.length > 0)
        printProgress(
          `the sandbox has a warehouse of its own: other commands use it without ${ofService.join(' and ')}`,
        );
      const file = await writeSample(config, options.people, options.seed);
      const spec = await specifyRun(parseAddress(file, process.cwd()), { reveal: 'phone', source }, config);
      await withSession(config, { temporal: true, service: true }, async (session) => {
        await refuseMixedWarehouse(session);
        await printRunEnd(session, await enrichExport(session, spec, false), options.json, [
          'enrich report latest --output report.html',
          `enrich export --for ${crm} --source ${source} --output import`,
          'enrich plan contacts.csv                 with your own export',
        ]);
      });
    });
}

async function writeSample(config: Config, people: number, seed: number): Promise<string> {
  const folder = join(config.embedded.dataDirectory, 'demo');
  const file = join(folder, `${crm}-crm-exports-${people}-${seed}.csv`);
  makeFolder(folder);
  await writeWholeFile(Readable.from(sampleExport({ people, seed })), file);
  return file;
}

import { join } from 'node:path';
import { Readable } from 'node:stream';
import { Command, jsonOption, type Flags, wholeNumber } from '../terminal/command.ts';
import { makeFolder } from '../../files/make-folder.ts';
import { writeWholeFile } from '../../files/write-whole-file.ts';
import type { Config } from '../../config/settings.ts';
import { parseAddress } from '../../ingest/sources/export-address.ts';
import { sampleExport } from '../../sandbox/sample-export.ts';
import { listTable, print, tell, writeBeforeCommands } from '../terminal/output.ts';
import { enrichExport } from '../run/enrich-export.ts';
import { readRunView, reportRun } from '../run/run-status.ts';
import { refuseMixedWarehouse, sandboxService } from '../session/with-service.ts';
import { specifyRun } from '../run/run-spec.ts';
import { withSession, type Session, settingsOf } from '../session/session.ts';

const crm = 'hubspot';

/** A separate source, because invented record ids must not get into files for a real CRM. */
const source = 'demo';

export function demoCommand(): Command {
  return new Command('demo')
    .description('Enrich an invented export from the sandbox, at no cost.')
    .option('--people <n>', 'people in the export', wholeNumber(1, 1_000_000), 300)
    .option('--seed <n>', 'number that decides which people are invented', wholeNumber(0), 1)
    .option(...jsonOption)
    .explain('\nExample:\n  enrich demo --seed 2')
    .action(async (options: { people: number; seed: number } & Flags) => {
      // Workers of a server would call the service in their settings. The sandbox delivers phones within seconds.
      const config = settingsOf({
        ENRICHMENT_BASE_URL: '',
        TEMPORAL_ADDRESS: '',
        WEBHOOK_PUBLIC_URL: '',
        LATE_RESULTS_POLL_AFTER: '15s',
        LATE_RESULTS_DEADLINE: '60s',
      });
      tell(sandboxService);
      // The sandbox has its own warehouse, which other commands use only without these settings.
      const unset = ['ENRICHMENT_BASE_URL', 'TEMPORAL_ADDRESS'].filter((name) => process.env[name]);
      const empty = unset.map((name) => `${name}=`);
      writeBeforeCommands(empty);
      const file = await writeSample(config, options.people, options.seed);
      const spec = await specifyRun(parseAddress(file, process.cwd()), { reveal: 'phone', source }, config);
      const view = await withSession(config, { temporal: true, service: true }, async (session) => {
        await refuseMixedWarehouse(session);
        const ended = await enrichExport(session, spec, false);
        await showContacts(session);
        return readRunView(session, ended);
      });
      reportRun(view, options.json === true);
      if (empty.length > 0)
        tell(`\nthe sandbox has data of its own: commands read it only with ${empty.join(' ')} before them`);
      tell(
        '\nthe same command again makes no call, because everybody is fresh; other people: --seed 2' +
          '\nyour own export: npx enrich plan contacts.csv' +
          `\nfiles for the CRM: enrich export --for ${crm} --source ${source} --output FOLDER` +
          '\nexplore with: enrich dev            (database, Temporal UI and sandbox until Ctrl-C)',
      );
    });
}

async function writeSample(config: Config, people: number, seed: number): Promise<string> {
  const folder = join(config.embedded.dataDirectory, 'demo');
  const file = join(folder, `${crm}-crm-exports-${people}-${seed}.csv`);
  makeFolder(folder);
  await writeWholeFile(Readable.from(sampleExport({ people, seed })), file);
  return file;
}

async function showContacts(session: Session): Promise<void> {
  const statement = `select contact_id, first_name, last_name, title, organization_name, email, phone
  from enrichment.enriched_contacts where source = '${source}'
  order by phone is null, enriched_at desc, contact_id limit 5`;
  const { rows } = await session.warehouse.pool.query<Record<string, string | null>>(statement);
  tell(`${statement};\n`);
  if (rows.length > 0) print(`${listTable(rows)}\n`);
}

import { existsSync } from 'node:fs';
import type { Config } from '../../config/settings.ts';
import { UsageProblem } from '../../domain/problem.ts';
import { settingsOf, type GivenSettings } from './settings-flags.ts';

/**
 * As `settingsOf`, for a command that only reads or changes what earlier commands have stored. In a wrong folder such a
 * command would create an empty warehouse and find nothing.
 *
 * @throws UsageProblem `warehouse.missing`
 */
export function settingsOfExisting(options: object, more?: GivenSettings): Config {
  const config = settingsOf(options, more);
  const { dataDirectory, directories } = config.embedded;
  if (config.databaseUrl !== undefined || existsSync(directories.postgres)) return config;
  const isFolderThere = existsSync(dataDirectory);
  throw new UsageProblem(
    'warehouse.missing',
    isFolderThere ? 'the data folder has no warehouse' : 'there is no data folder, and so no warehouse',
    {
      where: dataDirectory,
      next:
        'change to the folder of the runs, or set ENRICH_DATA_DIR or DATABASE_URL to theirs; enrich run FILE begins ' +
        'the first run here',
    },
  );
}

import { existsSync } from 'node:fs';
import { readConfig, type Config } from '../../config/settings.ts';
import type { Setting } from '../../config/settings-schema.ts';
import { UsageProblem } from '../../domain/problem.ts';

/** The text of a setting, with the flag that gave it, which errors then name. No flag: the command decides. */
export interface GivenSetting {
  readonly flag?: string;
  readonly text: string | undefined;
}

export type GivenSettings = { readonly [Name in Setting]?: GivenSetting };

/**
 * Reads the settings of a command from the environment.
 *
 * @param given settings from flags of this command, which go first
 * @throws WrongSettings that names the flag if a flag is wrong
 */
export function settingsOf(given: GivenSettings = {}): Config {
  const texts = Object.fromEntries(Object.entries(given).map(([setting, { text }]) => [setting, text]));
  return readConfig(process.env, texts, (setting) =>
    given[setting]?.text === undefined ? undefined : given[setting].flag,
  );
}

/**
 * As `settingsOf`, for a command that only reads or changes what earlier commands have stored. In a wrong folder such a
 * command would create an empty warehouse and find nothing.
 *
 * @throws UsageProblem `warehouse.missing`
 */
export function settingsOfExisting(given?: GivenSettings): Config {
  const config = settingsOf(given);
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

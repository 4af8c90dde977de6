import { distance } from 'fastest-levenshtein';
import { settingNames, type Setting } from './settings-schema.ts';

/** A variable of the environment that is no setting, and nearly one. */
export interface MisspeltSetting {
  readonly name: string;
  readonly setting: Setting;
}

/**
 * Variables of the environment that differ from a setting by one letter, or by two letters in swapped order. A larger
 * difference would report variables of other programs: POSTGRES_HOST, DATABASE_SSL, AWS_ENDPOINT_URL_SQS.
 */
export function misspeltSettings(environment: NodeJS.ProcessEnv): MisspeltSetting[] {
  const settings: ReadonlySet<string> = new Set(settingNames);
  return Object.entries(environment).flatMap(([name, value]) => {
    if (settings.has(name) || value?.trim() === '') return [];
    const setting = settingNames.find((each) => isNear(name, each));
    return setting === undefined ? [] : [{ name, setting }];
  });
}

/** One line for a person. */
export function describeMisspelt({ name, setting }: MisspeltSetting): string {
  return `${name} is no setting: did you mean ${setting}?`;
}

function isNear(name: string, setting: string): boolean {
  if (Math.abs(name.length - setting.length) > 1) return false;
  const changes = distance(name, setting);
  return changes === 1 || (changes === 2 && sortedLetters(name) === sortedLetters(setting));
}

function sortedLetters(text: string): string {
  return Array.from(text).sort().join('');
}

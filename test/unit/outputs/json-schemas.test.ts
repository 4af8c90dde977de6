import { readdirSync } from 'node:fs';
import { expect, it } from 'vitest';
import { jsonSchemaOf, outputNames, publishedValidator } from '../../helpers/outputs/output-schemas.ts';

const root = new URL('../../../', import.meta.url);

it.each(outputNames)('schemas/outputs/%s.json is the JSON Schema of the zod schema', async (name) => {
  await expect(`${JSON.stringify(jsonSchemaOf(name), null, 2)}\n`).toMatchFileSnapshot(
    new URL(`schemas/outputs/${name}.json`, root).pathname,
    'npm run schemas writes the file',
  );
});

it.each(outputNames)('schemas/outputs/%s.json is accepted by an independent validator', (name) => {
  expect(() => publishedValidator(name)).not.toThrow();
});

it('schemas/outputs has exactly one file for each output', () => {
  expect(readdirSync(new URL('schemas/outputs', root)).sort()).toEqual(
    outputNames.map((name) => `${name}.json`).sort(),
  );
});

it('every field of every JSON Schema has a description', () => {
  const bare = (value: unknown, path: string): string[] => {
    if (typeof value !== 'object' || value === null) return [];
    const { properties = {}, ...others } = value as Record<string, Record<string, { description?: string }>>;
    return [
      ...Object.entries(properties).flatMap(([field, schema]) => [
        ...(JSON.stringify(schema).includes('"description":') ? [] : [`${path}.${field}`]),
        ...bare(schema, `${path}.${field}`),
      ]),
      ...Object.values(others).flatMap((member) => bare(member, path)),
    ];
  };
  expect(outputNames.flatMap((name) => bare(jsonSchemaOf(name), name))).toEqual([]);
});

it('every field of every JSON Schema has a name in snake_case', () => {
  const named = (value: unknown): string[] => {
    if (typeof value !== 'object' || value === null) return [];
    const { properties = {}, ...others } = value as Record<string, Record<string, unknown>>;
    return [...Object.keys(properties), ...Object.values({ ...properties, ...others }).flatMap(named)];
  };
  const names = outputNames.flatMap((name) => named(jsonSchemaOf(name)));
  expect(names).toContain('job_changes');
  expect(names.filter((name) => !/^[a-z][a-z0-9]*(?:_[a-z0-9]+)*$/.test(name))).toEqual([]);
});

import { z } from 'zod';

const uri = z.string().regex(/^[a-z][a-z0-9+.-]*:\S+$/);
const dataset = z.strictObject({ namespace: z.string().min(1), name: z.string().min(1) });

/** A facet says who made it and which version of its schema it has. */
function facet<Shape extends z.ZodRawShape>(name: string, shape: Shape) {
  return z
    .strictObject({
      _producer: uri,
      _schemaURL: z
        .string()
        .regex(new RegExp(String.raw`^https://openlineage\.io/spec/facets/\d+-\d+-\d+/${name}\.json$`)),
      ...shape,
    })
    .optional();
}

/** What the specification of OpenLineage 2-0-2 asks of a run event and of the facets that the product sends. */
export const lineageEventSchema = z.strictObject({
  eventType: z.enum(['START', 'RUNNING', 'COMPLETE', 'ABORT', 'FAIL', 'OTHER']),
  eventTime: z.iso.datetime({ offset: true }),
  producer: uri,
  schemaURL: z.literal('https://openlineage.io/spec/2-0-2/OpenLineage.json#/$defs/RunEvent'),
  run: z.strictObject({
    runId: z.uuid(),
    facets: z.strictObject({
      nominalTime: facet('NominalTimeRunFacet', { nominalStartTime: z.iso.datetime({ offset: true }) }),
      errorMessage: facet('ErrorMessageRunFacet', { message: z.string(), programmingLanguage: z.string() }),
    }),
  }),
  job: dataset,
  inputs: z.array(dataset),
  outputs: z.array(
    dataset.extend({
      outputFacets: z
        .strictObject({
          outputStatistics: facet('OutputStatisticsOutputDatasetFacet', { rowCount: z.int().nonnegative() }),
        })
        .optional(),
    }),
  ),
});

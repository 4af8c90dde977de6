import ofWarehouse from '../../src/monitoring/warehouse-metrics.json' with { type: 'json' };
import ofProcess from '../../src/telemetry/process-metrics.json' with { type: 'json' };
import { code, prose, table } from './page.ts';

const header = ['Metric', 'Meaning'];

function row(name: string, labels: readonly string[], help: string): readonly string[] {
  return [code(labels.length === 0 ? name : `${name}{${labels.join(',')}}`), prose(help)];
}

/**
 * Writes the reference page of metrics. If a database metric has several values, they are values of its label `state`.
 */
export function metricsPage(): string {
  const process = Object.entries(ofProcess).map(([name, { help, labelNames }]) =>
    row(name, labelNames, help),
  );
  const warehouse = Object.values(ofWarehouse)
    .flatMap((family) => Object.entries<WarehouseMetric>(family))
    .map(([name, { help, labels, values }]) =>
      values.length === 1
        ? row(name, labels, help)
        : row(name, [...labels, 'state'], `${help} States: ${values.map(code).join(', ')}.`),
    );
  return [
    '## Counters of the process',
    'Use `sum` over processes.',
    table(header, process),
    '## State of the database',
    'Use `max` over processes, because every process reports the same state.',
    table(header, warehouse),
  ].join('\n\n');
}

interface WarehouseMetric {
  readonly help: string;
  readonly labels: readonly string[];
  readonly values: readonly string[];
}

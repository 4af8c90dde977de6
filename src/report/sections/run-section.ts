import { describeAskedService } from '../../domain/runs/asked-service.ts';
import type { Section } from '../document-types.ts';
import type { RunReport } from '../report-types.ts';
import { formatElapsed } from '../../domain/text/duration.ts';
import { visibleInLine } from '../../domain/text/visible.ts';
import { secondOf } from '../../domain/text/minute-of.ts';
import { words } from '../wording.ts';

export function runSection({ run }: RunReport): Section {
  const { reveal, waterfall } = run.asked_for;
  const extras = [...reveal.map((kind) => `reveal ${kind}`), ...waterfall.map((kind) => `waterfall ${kind}`)];
  const facts: [string, string | null][] = [
    ['run', run.run_id],
    ['status', words(run.status)],
    ['reason', run.reason],
    ['file', run.file],
    ['SHA-256 of the file', run.file_sha256],
    ['source', run.source],
    ['service', describeAskedService(run.service)],
    ['asked for', ['profile', ...extras].join(', ')],
    ['priority', run.priority],
    ['plan', run.plan_hash],
    ['created', secondOf(run.created_at)],
    ['approved', run.approved_at && secondOf(run.approved_at)],
    ['ended', run.finished_at && secondOf(run.finished_at)],
    ['duration', formatElapsed(run.seconds)],
    ['cancelled', run.cancelled && secondOf(run.cancelled.at)],
    ['reason for cancellation', run.cancelled?.reason ?? null],
    ['undone', run.undone && `${secondOf(run.undone.at)} by ${run.undone.by}`],
    ['reason for undo', run.undone?.reason ?? null],
  ];
  return {
    id: 'run',
    title: 'Run',
    lead: '',
    tables: [
      {
        caption: 'The run',
        columns: [{ title: 'Property' }, { title: 'Value' }],
        rows: facts.flatMap(([name, value]) => (value === null ? [] : [[name, visibleInLine(value)]])),
      },
    ],
  };
}

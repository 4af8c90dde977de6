import { describe, expect, it } from 'vitest';
import { isWorkflowTaskFailing } from '../../../src/temporal/failing-workflow.ts';

describe('isWorkflowTaskFailing()', () => {
  const failure = (code: number, details: string): Error =>
    new Error('Workflow Update failed', {
      cause: Object.assign(new Error(`${code}: ${details}`), { code, details }),
    });

  it('isWorkflowTaskFailing() recognises an update that the server refuses because of failed workflow tasks', () => {
    const details = 'Unable to perform workflow execution update due to Workflow Task in failed state.';
    expect(isWorkflowTaskFailing(failure(9, details))).toBe(true);
  });

  it.each([
    ['another precondition', failure(9, 'namespace is handed over')],
    ['another code', failure(14, 'Workflow Task queue is unavailable')],
    ['no cause', new Error('closed')],
  ])('isWorkflowTaskFailing() is false for %s', (_, error) => {
    expect(isWorkflowTaskFailing(error)).toBe(false);
  });
});

import type { WorkflowInterceptors } from '@temporalio/workflow';

/**
 * Lets each timer of a workflow fire at once, and gives each activity one argument more: the milliseconds of the
 * timers that fired before it. Loaded into the workflow bundle of a test that plays a long time.
 */
export function interceptors(): WorkflowInterceptors {
  let passed = 0;
  return {
    outbound: [
      {
        async startTimer(input, next) {
          await next({ ...input, durationMs: 1 });
          passed += input.durationMs;
        },
        scheduleActivity(input, next) {
          const args = [...input.args, passed];
          passed = 0;
          return next({ ...input, args });
        },
      },
    ],
  };
}

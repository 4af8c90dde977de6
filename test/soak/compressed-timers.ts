import type { WorkflowInterceptors } from '@temporalio/workflow';

/**
 * Workflow interceptors for a test of a long time. Each timer fires at once, and each activity gets one argument more:
 * the milliseconds of all timers that fired before the activity.
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

/**
 * Wall-clock time after which Node's watchdog ends a workflow task. The SDK's default is 5 s, and an overloaded machine
 * or a closed laptop can stop for longer.
 *
 * Usually the task then fails and Temporal retries it. If the watchdog interrupts a promise, Node can end the process
 * ("async hook stack has become corrupted", nodejs/node#38503; seen once in the tests under load): the calls in flight
 * become unknown. The workflows have no loop without a wait, so they need no watchdog. The types of the SDK lack the
 * option; a test checks that the SDK passes it on.
 */
export const workflowIsolate = { isolateExecutionTimeout: '1 day' };

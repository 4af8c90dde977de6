/**
 * How long one workflow task may take in wall-clock time before Node's watchdog ends it: longer than any standstill.
 *
 * The SDK says 5 s. Mostly the step fails then, and is done again. But where the watchdog strikes while promises run,
 * Node can end the whole process ("async hook stack has become corrupted", nodejs/node#38503; seen once under load in
 * our tests), and with it every call in flight, whose credits are then held as unknown. An overloaded machine, a
 * snapshot of a virtual one or a closed laptop stand still for that long; our workflows have no loop that does not
 * wait. The SDK passes the option on although its types lack it; a test checks that it arrives.
 */
export const workflowIsolate = { isolateExecutionTimeout: '1 day' };

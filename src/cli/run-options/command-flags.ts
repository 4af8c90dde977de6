export type { CommandFlags } from './read-run-options.ts';

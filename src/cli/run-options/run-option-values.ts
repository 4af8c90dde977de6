export { creditsOf } from './run-option-flags.ts';

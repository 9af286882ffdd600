export type { Output } from './progress.ts';
export { type DemoOptions, runDemo } from './run-demo.ts';

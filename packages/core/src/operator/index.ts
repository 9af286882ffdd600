export type * from './operator.ts';

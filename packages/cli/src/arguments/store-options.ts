import type { Options } from '../command.ts';

/** Options of every command that opens a store. */
export const STORE_OPTIONS: Options = Object.freeze({
  url: { type: 'string', value: 'URL', help: 'where the jobs are; else SURETY_URL, else sqlite:jobs.db' },
  namespace: {
    type: 'string',
    value: 'NAME',
    help: 'on PostgreSQL: the schema of the tables, if not surety',
  },
  timeout: { type: 'string', value: 'TIME', help: 'limit of one call to the store; 10s' },
});

/** For answers that a program reads. */
export const JSON_OPTION: Options = Object.freeze({ json: { type: 'boolean', help: 'print JSON' } });

/** For what cannot be undone. */
export const YES_OPTION: Options = Object.freeze({
  yes: { type: 'boolean', short: 'y', help: 'do not ask; needed where there is no terminal' },
});

/** For commands that work on one queue or on all. */
export const QUEUE_OPTION: Options = Object.freeze({
  queue: { type: 'string', short: 'q', value: 'Q', help: 'only this queue; all when left out' },
});

import type { DeadLetter, JobError, JobView } from '@surety/core/contract';
import { printable } from './printable.ts';
import { spellMs } from './spell.ts';

const NAME_WIDTH = 16;

/** A job, one fact a line, its payload and its errors at the end. */
export function jobLines(job: JobView | DeadLetter): readonly string[] {
  return [
    row('id', job.id),
    row('type', job.type),
    row('queue', job.queue),
    row('state', stateOf(job)),
    row('attempts', `${job.attempt}${job.maxAttempts === null ? '' : ` of ${job.maxAttempts}`}`),
    row('deliveries', `${job.deliveries}, lost ${job.lostClaims}, interrupted ${job.interruptions}`),
    row('redrives', String(job.redrives)),
    row('priority', String(job.priority)),
    row('age', spellMs(job.ageMs)),
    row('idempotency key', job.idempotencyKey),
    ...(job.dedupeKey === null ? [] : [row('dedupe key', job.dedupeKey)]),
    ...Object.entries(job.headers).map(([name, value]) => row('header', `${name}: ${value}`)),
    ...('reason' in job ? [row('died', `${job.deadAt}, reason ${job.reason}`)] : []),
    row('payload', job.payload),
    ...job.history.flatMap(({ at, error }) => errorLines(at, error)),
    ...(job.history.length === 0 && job.lastError !== null ? errorLines('last error', job.lastError) : []),
  ];
}

function stateOf(job: JobView): string {
  if (job.dueInMs === null) return job.state;
  return job.dueInMs > 0
    ? `${job.state}, due in ${spellMs(job.dueInMs)}`
    : `${job.state}, due since ${spellMs(-job.dueInMs)}`;
}

function errorLines(at: string, { attempt, code, name, message, stack }: JobError): readonly string[] {
  const frames = (stack ?? '')
    .split('\n')
    .map((line) => line.trim())
    .filter((line) => line.startsWith('at '));
  return [
    row('error', `${at}, attempt ${attempt}, ${code}`),
    row('', `${name}: ${message}`),
    ...frames.map((frame) => row('', `  ${frame}`)),
  ];
}

function row(name: string, text: string): string {
  return `${name.padEnd(NAME_WIDTH)} ${printable(text)}`.trimEnd();
}

import type { Backend, CallOptions } from '@surety/core/contract';
import { isSuretyError } from '@surety/core/errors';
import type { Finding } from '@surety/core/operator';
import type { NamedStore } from '../stores/open-store.ts';
import { figure, spellMs } from '../terminal/spell.ts';

const CLOSE_MS = 2000;
const CHECK = 'queues';

/** What the contract itself can tell: paused queues, dead letters, jobs that wait for too long. Never throws errors of the store. */
export async function checkQueues(
  { operator, address, call }: NamedStore,
  maxAgeMs: number,
): Promise<readonly Finding[]> {
  const backend = operator.backend(address);
  const warnings: Finding[] = [];
  try {
    await backend.open({
      ...call,
      notify: (notice) => {
        if (notice.kind === 'warning')
          warnings.push(note(notice.message, 'See the finding above that belongs to it.'));
      },
    });
    const findings: Finding[] = [];
    for (const queue of await backend.queues(call))
      findings.push(...(await checkQueue(backend, queue, maxAgeMs, call)));
    const fine = 'none waits, is paused or holds dead letters';
    return [
      ...warnings,
      ...(findings.length === 0
        ? [{ check: CHECK, level: 'ok' as const, what: fine, remedy: null }]
        : findings),
    ];
  } catch (error) {
    if (!isSuretyError(error)) throw error;
    const { message, remedy } = error;
    // What a store cannot tell at all is no fault of it.
    const tell = error.code === 'CAPABILITY_MISSING' ? note : problem;
    return [...warnings, tell(message.slice(0, message.length - remedy.length).trim(), remedy)];
  } finally {
    await backend.close({ graceMs: CLOSE_MS });
  }
}

async function checkQueue(
  backend: Backend,
  queue: string,
  maxAgeMs: number,
  call: CallOptions,
): Promise<readonly Finding[]> {
  const { dead, oldestReadyAgeMs: age, ready } = await backend.counts(queue, call);
  const { paused } = await backend.pacing.state(queue, call);
  // What is only a bound may be young.
  const old = !paused && age.kind !== 'upper-bound' && (age.value ?? 0) > maxAgeMs;
  return [
    ...(paused ? [note(`${queue} is paused`, `When it may go on: surety resume ${queue}`)] : []),
    ...((dead.value ?? 0) > 0
      ? [note(`${queue} holds ${figure(dead)} dead letters`, `See: surety dead list --queue ${queue}`)]
      : []),
    ...(old
      ? [
          problem(
            `${figure(ready)} jobs of ${queue} are ready, the oldest for ${figure(age, spellMs)}`,
            'See that workers run which serve this queue, that they are enough, and what they log.',
          ),
        ]
      : []),
  ];
}

function note(what: string, remedy: string): Finding {
  return { check: CHECK, level: 'note', what, remedy };
}

function problem(what: string, remedy: string): Finding {
  return { check: CHECK, level: 'problem', what, remedy };
}

import type { Finding } from '@surety/core/operator';
import { mib, note, ok, orFine, problem } from './findings.ts';
import { figureOf, type Look } from './look.ts';

const NOTE_SHARE = 0.75;
/** Beyond this producers are refused within minutes of a peak. */
const PROBLEM_SHARE = 0.95;
/** A rewrite of the log may need as much again, while many keys change. */
const MACHINE_SHARE = 0.5;

/** What happens when the memory is full, and how far that is away. */
export function checkMemory({ info, setting }: Look): readonly Finding[] {
  return [...eviction(setting('maxmemory-policy') ?? info?.get('maxmemory_policy') ?? null), ...room(info)];
}

function eviction(policy: string | null): readonly Finding[] {
  if (policy === null) {
    return [
      note(
        'eviction',
        'the server does not tell whether it evicts keys when its memory is full',
        'Look it up: maxmemory-policy must be noeviction.',
      ),
    ];
  }
  if (policy === 'noeviction') return [ok('eviction', 'none: a full server refuses what is new')];
  return [
    problem(
      'eviction',
      `maxmemory-policy ${policy}: when the memory is full, jobs may be thrown away`,
      'Set maxmemory-policy to noeviction. Where a cache needs the other policy, give the jobs a server of their own.',
    ),
  ];
}

function room(info: Look['info']): readonly Finding[] {
  if (info === null) return [];
  const used = figureOf(info, 'used_memory');
  const most = figureOf(info, 'maxmemory');
  const machine = figureOf(info, 'total_system_memory');
  if (most > 0) {
    const what = `${mib(used)} of ${mib(most)} in use`;
    const remedy = 'Let workers catch up, discard dead letters, or raise maxmemory.';
    if (used > most * PROBLEM_SHARE)
      return [problem('memory', `${what}: soon producers are refused`, remedy)];
    return used > most * NOTE_SHARE ? [note('memory', what, remedy)] : [ok('memory', what)];
  }
  return orFine(
    [
      machine > 0 && used > machine * MACHINE_SHARE
        ? note(
            'memory',
            `${mib(used)} of the machine's ${mib(machine)} in use, without a limit`,
            'Set maxmemory: a full server refuses producers; a full machine ends the server.',
          )
        : null,
    ],
    ok('memory', `${mib(used)} in use, maxmemory is not set`),
  );
}

import type { Finding } from '@surety/core/operator';
import { note, ok, orFine, problem } from './findings.ts';
import { figureOf, type Look } from './look.ts';

/** What the jobs survive, and whether the disk keeps up. */
export function checkPersistence({ info, setting }: Look): readonly Finding[] {
  if (info === null) return [];
  if (info.get('aof_enabled') !== '1') return [withoutLog(info, setting('save'))];
  return [...log(info, setting), ...disk(info)];
}

function withoutLog(info: Look['info'] & object, save: string | null): Finding {
  const snapshots =
    save === ''
      ? 'and makes no snapshots'
      : `and ${figureOf(info, 'rdb_changes_since_last_save')} changes are in no snapshot`;
  return problem(
    'durability',
    `appendonly is off, ${snapshots}: when the server ends, jobs that were accepted are lost`,
    'Set appendonly yes (CONFIG SET appendonly yes, and in the configuration).',
  );
}

function log(info: ReadonlyMap<string, string>, setting: Look['setting']): readonly Finding[] {
  const fsync = setting('appendfsync');
  const late = setting('no-appendfsync-on-rewrite') === 'yes';
  const meaning: Readonly<Record<string, string>> = {
    always: 'appendonly yes, appendfsync always: accepted jobs survive power loss',
    everysec:
      'appendonly yes, appendfsync everysec: accepted jobs survive the end of the server; with the machine up to two seconds are lost',
  };
  return orFine(
    [
      fsync === 'no'
        ? problem(
            'durability',
            'appendfsync no: with the machine half a minute of accepted jobs is lost',
            'Set appendfsync to everysec or always.',
          )
        : null,
      fsync === null
        ? note(
            'durability',
            'appendonly yes; appendfsync is not told to this user',
            'Allow CONFIG GET, or look it up: everysec or always.',
          )
        : null,
      late
        ? note(
            'durability',
            'no-appendfsync-on-rewrite yes: while the log is rewritten nothing is synced',
            'Set it to no, unless the disk is too slow for both.',
          )
        : null,
      info.get('aof_last_write_status') === 'err'
        ? problem(
            'durability',
            'the last write to the log failed: the server refuses writes until it works again',
            "Make room on the server's disk.",
          )
        : null,
    ],
    ok('durability', meaning[fsync ?? ''] ?? `appendonly yes, appendfsync ${fsync}`),
  );
}

function disk(info: ReadonlyMap<string, string>): readonly Finding[] {
  const delayed = figureOf(info, 'aof_delayed_fsync');
  return orFine(
    [
      info.get('aof_last_bgrewrite_status') === 'err'
        ? problem(
            'disk',
            'the last rewrite of the log failed: it grows',
            "Make room on the server's disk and in its memory; see its log.",
          )
        : null,
      delayed > 0
        ? note(
            'disk',
            `${delayed} times since its start the server waited for a sync that took more than two seconds`,
            'Give the log a faster disk, or one that nobody else writes to.',
          )
        : null,
    ],
    ok('disk', 'the log is written and synced in time'),
  );
}

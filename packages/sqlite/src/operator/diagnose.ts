import { readdirSync, statfsSync, statSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import type { DiagnoseOptions, Finding } from '@surety/core/operator';
import { migrations } from '../generated/migrations.ts';
import { isBusy, mapNative } from '../native-errors.ts';
import { checkPlace } from '../open-database.ts';
import { readClock } from '../store-clock.ts';
import { lookInto, readVersion } from './schema.ts';
import { TRIAL_FOLDER } from './trial.ts';

const MIB = 1024 * 1024;
/** The log is cut back to 16 MiB after every checkpoint that was not hindered; several times that means that one was. */
const LOG_PROBLEM_BYTES = 64 * MIB;
/** Below this, free pages are not worth a thought: the next jobs fill them. */
const BLOAT_BYTES = 64 * MIB;
/** Reading every page takes a second or so per GiB and holds up nobody but this process. */
const CHECKED_BYTES = 512 * MIB;
const LOW_DISK_BYTES = 256 * MIB;
/** A step of the clock that is worth a word. */
const CLOCK_NOTE_MS = 1000;
/** Writers hold the lock for milliseconds; a longer look would only hold up the diagnosis. */
const LONGEST_LOCK_MS = 1000;

/** Every check on its own: one that fails is a finding, and the others go on. */
export function diagnoseFile(file: string, { longTransactionMs }: DiagnoseOptions): readonly Finding[] {
  // Throws when there is no such file, or none that can be opened: then there is nothing to diagnose.
  lookInto(file, 'diagnose', (db) => db.prepare('pragma schema_version').get());
  const checks: readonly (readonly [string, () => Finding])[] = [
    ['file', () => checkFile(file)],
    ['schema', () => lookInto(file, 'diagnose', (db) => checkSchema(db, file))],
    ['settings', () => lookInto(file, 'diagnose', checkSettings)],
    ['disk', () => checkDisk(file)],
    ['open-transactions', () => checkLock(file, Math.min(longTransactionMs, LONGEST_LOCK_MS))],
    ['log', () => checkLog(file)],
    ['bloat', () => lookInto(file, 'diagnose', checkBloat)],
    ['integrity', () => lookInto(file, 'diagnose', (db) => checkIntegrity(db, file))],
    ['clock', () => lookInto(file, 'diagnose', checkClock)],
    ['trials', () => checkTrials(file)],
  ];
  return checks.map(([check, look]) => {
    try {
      return look();
    } catch (error) {
      const { message, remedy } = mapNative(error, 'diagnose', file);
      return problem(check, message.slice(0, message.length - remedy.length).trim(), remedy);
    }
  });
}

function checkFile(file: string): Finding {
  checkPlace(file);
  const versions = `SQLite ${process.versions['sqlite'] ?? 'of an unknown version'}, Node ${process.versions.node}`;
  return ok('file', `${basename(file)} ${mib(sizeOf(file))}, log ${mib(sizeOf(`${file}-wal`))}; ${versions}`);
}

function checkSchema(db: DatabaseSync, file: string): Finding {
  const version = readVersion(db, file);
  const { length: newest } = migrations;
  if (version === newest) return ok('schema', `version ${version}, up to date`);
  const what =
    version === 0 ? 'the file holds no Surety tables' : `version ${version}, this version needs ${newest}`;
  return problem('schema', what, 'Run `surety migrate`.');
}

/** `synchronous` belongs to each connection and is always full on those of Surety. */
function checkSettings(db: DatabaseSync): Finding {
  const mode = String(db.prepare('pragma journal_mode').get()?.['journal_mode']);
  if (mode === 'wal')
    return ok('settings', 'journal_mode wal; synchronous full on every connection of Surety');
  return note('settings', `journal_mode ${mode}`, 'Nothing: the next worker or client turns on the log.');
}

function checkDisk(file: string): Finding {
  const { bavail, bsize } = statfsSync(dirname(file));
  const free = bavail * bsize;
  if (free >= LOW_DISK_BYTES) return ok('disk', `${mib(free)} free`);
  return problem(
    'disk',
    `only ${mib(free)} free`,
    'Free space: a full disk refuses every enqueue and every completion.',
  );
}

/** SQLite does not tell how old a transaction is, but whether the one lock for writing is to be had. */
function checkLock(file: string, waitMs: number): Finding {
  const db = new DatabaseSync(file, { timeout: Math.max(1, Math.floor(waitMs)) });
  try {
    db.exec('begin immediate');
    db.exec('rollback');
    return ok('open-transactions', 'the write lock is free');
  } catch (error) {
    if (!isBusy(error)) throw error;
    return problem(
      'open-transactions',
      `a process has held the write lock for more than ${waitMs} ms`,
      `Find it (lsof ${file}) and let it commit sooner: nobody can enqueue, claim or settle meanwhile.`,
    );
  } finally {
    db.close();
  }
}

function checkLog(file: string): Finding {
  const size = sizeOf(`${file}-wal`);
  if (size < LOG_PROBLEM_BYTES) return ok('log', `${mib(size)}, checkpoints keep up`);
  return problem(
    'log',
    `the log has grown to ${mib(size)}: a reader that never ends keeps it from being copied into the file`,
    `Find the program that keeps a read transaction open (lsof ${file}-wal) and end it.`,
  );
}

function checkBloat(db: DatabaseSync): Finding {
  const read = (name: string): number => Number(db.prepare(`pragma ${name}`).get()?.[name]);
  const size = read('page_count') * read('page_size');
  const free = read('freelist_count') * read('page_size');
  const what = `${mib(free)} of ${mib(size)} are free pages`;
  if (free < BLOAT_BYTES || free < size / 2) return ok('bloat', what);
  return note(
    'bloat',
    what,
    'Nothing, if the backlog may come again: the pages are used again. Else stop the workers and run `vacuum`.',
  );
}

function checkIntegrity(db: DatabaseSync, file: string): Finding {
  if (sizeOf(file) > CHECKED_BYTES)
    return ok('integrity', `not checked: larger than ${mib(CHECKED_BYTES)} (pragma quick_check does it)`);
  const answer = String(db.prepare('pragma quick_check(1)').get()?.['quick_check']);
  if (answer === 'ok') return ok('integrity', 'every page is sound');
  return problem('integrity', answer, 'Stop the workers, keep a copy of the file, and restore a backup.');
}

function checkClock(db: DatabaseSync): Finding {
  const fine = ok('clock', "the store's clock is this machine's");
  const ours = db.prepare("select count(*) as tables from sqlite_schema where name = 'surety_store'").get();
  if (ours?.['tables'] === 0) return fine;
  const row = db
    .prepare(
      "select high, shift, cast(round(unixepoch('subsec') * 1000) as integer) as machine from surety_store",
    )
    .get();
  const mark = { high: Number(row?.['high']), shift: Number(row?.['shift']) };
  const { shift } = readClock(mark, Number(row?.['machine']));
  if (shift < CLOCK_NOTE_MS) return fine;
  return note(
    'clock',
    `this machine's clock was set back: the store's is ${Math.round(shift)} ms ahead of it, and pays that back`,
    'Let NTP keep the clock. Leases and delays keep their length; only instants that are shown are off.',
  );
}

function checkTrials(file: string): Finding {
  const folder = dirname(file);
  const left = readdirSync(folder).filter((name) => name.startsWith(TRIAL_FOLDER));
  if (left.length === 0) return ok('trials', 'nothing is left of `surety verify`');
  return note(
    'trials',
    `left by a \`surety verify\` that is running or was killed: ${left.join(', ')}`,
    `When none is running: rm -r ${join(folder, `${TRIAL_FOLDER}*`)}`,
  );
}

function sizeOf(file: string): number {
  return statSync(file, { throwIfNoEntry: false })?.size ?? 0;
}

function mib(bytes: number): string {
  return bytes < MIB ? `${Math.ceil(bytes / 1024)} KiB` : `${(bytes / MIB).toFixed(1)} MiB`;
}

function ok(check: string, what: string): Finding {
  return { check, level: 'ok', what, remedy: null };
}

function note(check: string, what: string, remedy: string): Finding {
  return { check, level: 'note', what, remedy };
}

function problem(check: string, what: string, remedy: string): Finding {
  return { check, level: 'problem', what, remedy };
}

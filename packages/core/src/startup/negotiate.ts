import { type Backend, type Capabilities, CONTRACT_VERSION } from '../contract/index.ts';
import { SuretyError } from '../errors/index.ts';
import { type Duration, durationMs, shown } from '../options/duration.ts';
import { assertKnownOptions, wholeNumber } from '../options/known-options.ts';

/** What an application needs of its backend, whichever that is. A backend that lacks it does not start. */
export interface Requirements {
  readonly moves?: 'atomic';
  readonly durability?: 'process-crash' | 'fsync';
  readonly attempts?: 'exact';
  readonly fence?: 'monotonic';
  readonly idempotentEnqueue?: 'while-present';
  readonly claimReplay?: true;
  readonly dedupeWindow?: Duration;
  /** Levels. */
  readonly priority?: number;
  readonly maxDelay?: Duration;
  readonly maxDepth?: 'exact' | 'approximate';
  readonly counts?: 'exact';
  readonly lookup?: true;
  readonly transactional?: true;
  readonly sessions?: 'one-host' | 'many-hosts';
}

/** The values that can be required; null: a number or duration, checked where it is compared. */
const REQUIREMENTS: Readonly<Record<keyof Requirements, readonly unknown[] | null>> = Object.freeze({
  moves: ['atomic'],
  durability: ['process-crash', 'fsync'],
  attempts: ['exact'],
  fence: ['monotonic'],
  idempotentEnqueue: ['while-present'],
  claimReplay: [true],
  dedupeWindow: null,
  priority: null,
  maxDelay: null,
  maxDepth: ['exact', 'approximate'],
  counts: ['exact'],
  lookup: [true],
  transactional: [true],
  sessions: ['one-host', 'many-hosts'],
});
const NAMES = Object.keys(REQUIREMENTS) as (keyof Requirements)[];

/** Refuses a backend of another contract, or one that lacks what is required; the error lists all that is missing. */
export function negotiate(backend: Backend, requires: Requirements): void {
  assertBackend(backend);
  assertKnownOptions('requires', requires, NAMES);
  const asked = NAMES.filter((name) => requires[name] !== undefined);
  for (const name of asked) assertRequirable(name, requires[name]);
  const missing = asked.filter((name) => !meets(backend.capabilities, requires, name));
  if (missing.length === 0) return;
  const list = missing.map((name) => `${name} ${JSON.stringify(requires[name])}`).join(', ');
  throw new SuretyError(
    'CAPABILITY_MISSING',
    `The backend ${backend.name} lacks what the application requires: ${list}.`,
    {
      adapter: backend.name,
      operation: 'open',
    },
  );
}

/** A misspelt value must not pass for a requirement that is met. */
function assertRequirable(name: keyof Requirements, value: unknown): void {
  const allowed = REQUIREMENTS[name];
  if (allowed === null || allowed.includes(value)) return;
  const choice = allowed.map((one) => JSON.stringify(one)).join(' or ');
  throw new SuretyError('OPTIONS_INVALID', `requires.${name} can be ${choice}, not ${shown(value)}.`);
}

function assertBackend(backend: unknown): asserts backend is Backend {
  const candidate = backend as Partial<Backend> | null | undefined;
  if (typeof candidate?.claim !== 'function' || candidate.capabilities === undefined) {
    throw new SuretyError('OPTIONS_INVALID', 'backend is not a backend.', {
      remedy: "Give what an adapter's factory returned, such as sqlite('jobs.db').",
    });
  }
  if (candidate.contractVersion !== CONTRACT_VERSION) {
    const what = `${candidate.name} speaks contract version ${candidate.contractVersion}, this core ${CONTRACT_VERSION}.`;
    throw new SuretyError('CONTRACT_VERSION_UNSUPPORTED', what, { adapter: candidate.name ?? null });
  }
}

function meets(has: Capabilities, requires: Requirements, name: keyof Requirements): boolean {
  switch (name) {
    case 'durability':
      return durabilityRank(has.durability) >= durabilityRank(requires.durability ?? 'memory');
    case 'dedupeWindow':
      return (
        has.dedupe !== 'none' &&
        has.dedupe.maxWindowMs >= durationMs(name, requires[name], 1, Number.MAX_SAFE_INTEGER)
      );
    case 'priority':
      return (
        has.priority !== 'none' &&
        has.priority.levels >= wholeNumber('requires.priority', requires[name], 1, Number.MAX_SAFE_INTEGER)
      );
    case 'maxDelay':
      return has.delay.maxMs >= durationMs(name, requires[name], 0, Number.MAX_SAFE_INTEGER);
    case 'maxDepth':
      return has.maxDepth === requires.maxDepth || has.maxDepth === 'exact';
    case 'counts':
      return Object.values(has.counts).every((kind) => kind === 'exact');
    case 'sessions':
      return has.sessions === requires.sessions || has.sessions === 'many-hosts';
    case 'moves':
    case 'attempts':
    case 'fence':
    case 'idempotentEnqueue':
    case 'claimReplay':
    case 'lookup':
    case 'transactional':
      return has[name] === requires[name];
  }
}

function durabilityRank(durability: Capabilities['durability']): number {
  if (durability === 'memory') return 0;
  if (durability === 'process-crash') return 1;
  return durability === 'fsync' ? 2 : 3;
}

import { type Backend, type Capabilities, CONTRACT_VERSION } from '../contract/index.ts';
import { SuretyError } from '../errors/index.ts';
import { type Duration, durationMs } from '../options/duration.ts';
import { assertKnownOptions } from '../options/known-options.ts';

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

const REQUIREMENTS = [
  'moves',
  'durability',
  'attempts',
  'fence',
  'idempotentEnqueue',
  'claimReplay',
  'dedupeWindow',
  'priority',
  'maxDelay',
  'maxDepth',
  'counts',
  'lookup',
  'transactional',
  'sessions',
] as const;

/** Refuses a backend of another contract, or one that lacks what is required; the error lists all that is missing. */
export function negotiate(backend: Backend, requires: Requirements): void {
  assertBackend(backend);
  assertKnownOptions('requires', requires, REQUIREMENTS);
  const missing = REQUIREMENTS.filter(
    (name) => requires[name] !== undefined && !meets(backend.capabilities, requires, name),
  );
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

function meets(has: Capabilities, requires: Requirements, name: (typeof REQUIREMENTS)[number]): boolean {
  switch (name) {
    case 'durability':
      return durabilityRank(has.durability) >= durabilityRank(requires.durability ?? 'memory');
    case 'dedupeWindow':
      return (
        has.dedupe !== 'none' &&
        has.dedupe.maxWindowMs >= durationMs(name, requires[name], 1, Number.MAX_SAFE_INTEGER)
      );
    case 'priority':
      return has.priority !== 'none' && has.priority.levels >= (requires.priority ?? 0);
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

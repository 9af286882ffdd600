import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import {
  type Backend,
  DEFAULT_PRIORITY,
  ENVELOPE_BYTES,
  type NewJob,
  type Notice,
} from '@surety/core/contract';
import type { Context } from '../context.ts';
import type { Harness, HarnessNetwork } from '../harness.ts';
import { type Child, startChild } from './children.ts';
import { claimingOf } from './claiming.ts';
import type { Random } from './random.ts';
import { settlingOf } from './settling.ts';
import { waitingOf, within } from './waiting.ts';

const CALL_MS = 15_000;
const LONG_LEASE_MS = 60_000;
/** Long enough that a busy machine acts within it, short enough to wait out. */
const SHORT_LEASE_MS = 1000;
/** What a busy machine may be late beside the stated bounds. */
const SLACK_MS = 1500;
/** An empty claim proves nothing, so one is asked for this long: enough to tell a lost job from a late one. */
const PATIENCE_MS = 15_000;
/** The same where the store lives in the process and is asked without any delay. */
const VIRTUAL_PATIENCE_MS = 2000;
const CLOSE_GRACE_MS = 3000;
/** Beside the grace, for a close that must end by itself. */
const CLOSE_LIMIT_MS = CLOSE_GRACE_MS + 5000;
const BATCH_SLACK_BYTES = 4096;

/** A context and the way to end it. */
export interface Stage {
  readonly context: Context;
  /** Closes what the case opened, kills its children. Throws when a close hangs or fails. */
  strike(): Promise<void>;
}

/** Changes a backend on its way to the cases, for saboteurs. */
export type Wrap = (backend: Backend) => Backend;

/** Sets up the context of one case. */
export function setStage(harness: Harness, random: Random, wrap: Wrap = (backend) => backend): Stage {
  const opened: Backend[] = [];
  const networks: HarnessNetwork[] = [];
  const children: Child[] = [];
  const keep = (backend: Backend): Backend => {
    const wrapped = wrap(backend);
    opened.push(wrapped);
    return wrapped;
  };
  const { capabilities } = harness.backend();
  const clamp = (ms: number): number =>
    Math.min(Math.max(ms, capabilities.lease.minMs), capabilities.lease.maxMs);
  const call = { timeoutMs: CALL_MS };
  const leaseMs = clamp(LONG_LEASE_MS);
  const shortLeaseMs = clamp(SHORT_LEASE_MS);
  const reclaimMs = capabilities.lease.reclaimBoundMs + SLACK_MS;
  const waiting = waitingOf(harness);
  const settling = settlingOf(call, capabilities.batch.maxItems);
  const claiming = claimingOf(waiting, {
    leaseMs,
    timeoutMs: CALL_MS,
    maxItems: capabilities.batch.maxItems,
    patienceMs: harness.advance === undefined ? PATIENCE_MS : VIRTUAL_PATIENCE_MS,
  });

  async function openBackend(options: { readonly notify?: (notice: Notice) => void } = {}): Promise<Backend> {
    const backend = keep(harness.backend());
    await backend.open({ ...call, notify: options.notify ?? (() => {}) });
    return backend;
  }

  async function accept(backend: Backend, jobs: readonly NewJob[]): Promise<void> {
    const outcomes = await backend.enqueue(jobs, call);
    assert.deepEqual(
      outcomes.map((outcome) => ({ id: outcome.id, status: describe(outcome) })),
      jobs.map((job) => ({ id: job.id, status: 'accepted' })),
    );
  }

  async function put(
    backend: Backend,
    queue: string,
    count = 1,
    overrides: Partial<NewJob> = {},
  ): Promise<readonly NewJob[]> {
    const jobs = Array.from({ length: count }, () => newJob(queue, overrides));
    const bytes = Buffer.byteLength(overrides.payload ?? '') + ENVELOPE_BYTES + BATCH_SLACK_BYTES;
    const size = Math.max(
      1,
      Math.min(capabilities.batch.maxItems, Math.floor(capabilities.batch.maxBytes / bytes)),
    );
    for (let from = 0; from < count; from += size) await accept(backend, jobs.slice(from, from + size));
    return jobs;
  }

  const context: Context = {
    harness,
    capabilities,
    random,
    leaseMs,
    shortLeaseMs,
    reclaimMs,
    call,
    openBackend,
    makeBackend: (options = {}) => keep(harness.backend(options)),
    rivals: (count) => Promise.all(Array.from({ length: count }, () => openBackend())),
    async openNetwork() {
      assert.ok(harness.network);
      const network = wrapNetwork(await harness.network(), wrap);
      networks.push(network);
      await network.backend.open({ ...call, notify: () => {} });
      return network;
    },
    async child(options) {
      assert.ok(harness.child);
      const child = await startChild(harness.child, options);
      children.push(child);
      if (options?.open !== false) await child.call('open', call);
      return child;
    },
    freshQueue: () => `c-${randomUUID().slice(0, 18)}`,
    newJob,
    put,
    accept,
    enqueue: (backend, jobs) => backend.enqueue(jobs, call),
    ...claiming,
    ...settling,
    async dead(backend, queue, count = 1, overrides = {}) {
      const jobs = await put(backend, queue, count, overrides);
      for (const lease of await claiming.claimAll(backend, queue, count)) await settling.bury(backend, lease);
      return jobs;
    },
    expectAttempt(lease, attempt) {
      if (capabilities.attempts === 'exact') assert.equal(lease.attempt, attempt, 'attempt of the lease');
      else assert.ok(lease.attempt >= attempt, `attempt ${lease.attempt}, at least ${attempt} were charged`);
    },
    passLease: (ms) => waiting.passTime(ms + 20),
    elapse: (queue, ms) => (harness.elapse === undefined ? waiting.passTime(ms) : harness.elapse(queue, ms)),
    ...waiting,
  };
  return { context, strike: () => strike(opened, networks, children) };
}

function newJob(queue: string, overrides: Partial<NewJob> = {}): NewJob {
  const id = randomUUID();
  return {
    id,
    queue,
    type: 'conformance.case',
    payload: '{}',
    headers: {},
    idempotencyKey: id,
    delayMs: 0,
    expiresInMs: null,
    priority: DEFAULT_PRIORITY,
    dedupe: null,
    maxAttempts: null,
    maxDepth: null,
    ...overrides,
  };
}

function describe(outcome: {
  readonly status: string;
  readonly error?: { readonly message: string };
}): string {
  return outcome.error === undefined ? outcome.status : `${outcome.status}: ${outcome.error.message}`;
}

async function strike(
  opened: readonly Backend[],
  networks: readonly HarnessNetwork[],
  children: readonly Child[],
): Promise<void> {
  const ends = [
    ...children.map(async (child) => {
      child.continueProcess();
      await child.kill();
    }),
    ...opened.map((backend) =>
      within('close after the case', CLOSE_LIMIT_MS, backend.close({ graceMs: CLOSE_GRACE_MS })),
    ),
    ...networks.map(async (network) => {
      await network.heal();
      await within(
        'close after the case',
        CLOSE_LIMIT_MS,
        network.backend.close({ graceMs: CLOSE_GRACE_MS }),
      );
      await network.close();
    }),
  ];
  const failed = (await Promise.allSettled(ends)).find((end) => end.status === 'rejected');
  if (failed !== undefined) throw failed.reason;
}

function wrapNetwork(network: HarnessNetwork, wrap: Wrap): HarnessNetwork {
  return {
    backend: wrap(network.backend),
    cut: () => network.cut(),
    freeze: () => network.freeze(),
    dropAnswers: () => network.dropAnswers(),
    isolate: () => network.isolate(),
    delay: (ms) => network.delay(ms),
    heal: () => network.heal(),
    close: () => network.close(),
  };
}

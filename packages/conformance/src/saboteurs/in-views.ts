import { randomUUID } from 'node:crypto';
import type { DeadSelection } from '@surety/core/contract';
import { override } from '../stage/override.ts';
import { alterLeases, alterSettlements, each, type Saboteur } from './saboteur.ts';

/** Bugs in counts, dead letters and pauses. */
export const viewSaboteurs: readonly Saboteur[] = [
  {
    id: 'counts-scheduled-as-ready',
    bug: 'jobs that are not due count as ready',
    mustFail: ['G5.1/each-state', 'G4.2/long-delays'],
    over: 'memory',
    plant: each((backend) =>
      override(backend, {
        async counts(queue, options) {
          const counts = await backend.counts(queue, options);
          const value = (counts.ready.value ?? 0) + (counts.scheduled.value ?? 0);
          return { ...counts, ready: { ...counts.ready, value } };
        },
      }),
    ),
  },
  {
    id: 'ages-from-enqueue',
    bug: 'the age of the oldest ready job counts from its enqueue, delayed jobs included',
    mustFail: ['G5.2/not-due-is-no-age'],
    over: 'memory',
    plant: each((backend) =>
      override(backend, {
        async counts(queue, options) {
          const counts = await backend.counts(queue, options);
          const { oldestReadyAgeMs: age, scheduled } = counts;
          const value = age.value ?? ((scheduled.value ?? 0) > 0 ? 300 : null);
          return { ...counts, oldestReadyAgeMs: { ...age, value } };
        },
      }),
    ),
  },
  {
    id: 'ended-leases-stay-leased',
    bug: 'a job counts as leased until somebody claims it again',
    mustFail: ['G5.1/ended-lease-counts-as-ready', 'G9.3/counted-meanwhile'],
    over: 'memory',
    plant() {
      let held = 0;
      return (backend) =>
        override(backend, {
          async claim(request) {
            const claim = await backend.claim(request);
            held += claim.leases.length;
            return claim;
          },
          async counts(queue, options) {
            const counts = await backend.counts(queue, options);
            return {
              ...counts,
              leased: { ...counts.leased, value: held },
              ready: { ...counts.ready, value: 0 },
            };
          },
        });
    },
  },
  {
    id: 'hides-paused-queues',
    bug: 'a queue is listed only while it holds a job',
    mustFail: ['G5.3/queues-listed'],
    over: 'memory',
    plant: each((backend) =>
      override(backend, {
        async queues(options) {
          const names = await backend.queues(options);
          const states = await Promise.all(names.map((name) => backend.pacing.state(name, options)));
          return names.filter((_, index) => states[index]?.paused === false);
        },
      }),
    ),
  },
  {
    id: 'drops-error-of-the-dead',
    bug: 'a buried job loses the error that it died of',
    mustFail: ['G6.1/all-that-is-known', 'G6.6/every-code', 'G6.6/every-road'],
    over: 'memory',
    plant: each((backend) =>
      alterSettlements(backend, (settlement) =>
        settlement.kind === 'bury'
          ? { ...settlement, error: { code: 'UNKNOWN', name: 'Error', message: '', stack: null, attempt: 0 } }
          : settlement,
      ),
    ),
  },
  {
    id: 'deletes-instead-of-burying',
    bug: 'a job that failed for good is removed',
    mustFail: ['G6.1/all-that-is-known', 'G6.6/every-code'],
    over: 'memory',
    plant: each((backend) =>
      alterSettlements(backend, (settlement) =>
        settlement.kind === 'bury'
          ? { kind: 'complete', lease: settlement.lease, outcome: 'completed' }
          : settlement,
      ),
    ),
  },
  {
    id: 'keeps-every-error',
    bug: 'of a long history only the latest errors are shown, the first is lost',
    mustFail: ['G6.7/bounded-history'],
    over: 'memory',
    plant: each((backend) =>
      override(backend, {
        deadLetters: {
          list: (request, options) => backend.deadLetters.list(request, options),
          async show(queue, id, options) {
            const dead = await backend.deadLetters.show(queue, id, options);
            return dead && { ...dead, history: dead.history.slice(-4) };
          },
          redrive: (queue, selection, options) => backend.deadLetters.redrive(queue, selection, options),
          discard: (queue, selection, options) => backend.deadLetters.discard(queue, selection, options),
        },
      }),
    ),
  },
  {
    id: 'redrive-keeps-attempts',
    bug: 'a redriven job goes on counting where it died',
    mustFail: ['G6.3/starts-anew'],
    over: 'memory',
    plant: each((backend) =>
      alterLeases(backend, ({ attempt, redrives }) => ({ attempt: attempt + 2 * redrives })),
    ),
  },
  {
    id: 'redrive-doubles',
    bug: 'a redrive leaves a second copy of the job',
    mustFail: ['G6.3/by-selection', 'G6.4/rivals'],
    over: 'memory',
    plant: each((backend) =>
      override(backend, {
        deadLetters: {
          list: (request, options) => backend.deadLetters.list(request, options),
          show: (queue, id, options) => backend.deadLetters.show(queue, id, options),
          discard: (queue, selection, options) => backend.deadLetters.discard(queue, selection, options),
          async redrive(queue, selection, options) {
            const outcomes = await backend.deadLetters.redrive(queue, selection, options);
            for (const { status, id } of outcomes) {
              if (status !== 'redriven') continue;
              const view = await backend.lookup?.find(queue, id, options);
              if (!view) continue;
              const { type, payload, headers, idempotencyKey, priority, maxAttempts } = view;
              const copy = {
                id: randomUUID(),
                queue,
                type,
                payload,
                headers,
                idempotencyKey,
                priority,
                maxAttempts,
              };
              const plain = { delayMs: 0, expiresInMs: null, dedupe: null, maxDepth: null };
              await backend.enqueue([{ ...copy, ...plain }], options);
            }
            return outcomes;
          },
        },
      }),
    ),
  },
  {
    id: 'discard-only-hides',
    bug: 'a discarded dead letter is hidden from the listing and stays in the store',
    mustFail: ['G6.5/gone', 'G3.2/free-after-end'],
    over: 'memory',
    plant() {
      const hidden = new Set<string>();
      return (backend) =>
        override(backend, {
          deadLetters: {
            async list(request, options) {
              const page = await backend.deadLetters.list(request, options);
              return { ...page, entries: page.entries.filter(({ id }) => !hidden.has(id)) };
            },
            show: async (queue, id, options) =>
              hidden.has(id) ? null : backend.deadLetters.show(queue, id, options),
            redrive: (queue, selection, options) => backend.deadLetters.redrive(queue, selection, options),
            async discard(queue, selection: DeadSelection, options) {
              const ids =
                'ids' in selection
                  ? selection.ids
                  : (
                      await backend.deadLetters.list({ queue, cursor: null, ...selection }, options)
                    ).entries.map(({ id }) => id);
              const found = await Promise.all(ids.map((id) => backend.deadLetters.show(queue, id, options)));
              return ids.map((id, index) => {
                const known = found[index] !== null && !hidden.has(id);
                hidden.add(id);
                return { status: known ? 'discarded' : 'not-found', id } as const;
              });
            },
          },
        });
    },
  },
  {
    id: 'ignores-pause',
    bug: 'a pause is remembered and shown, and hinders no claim',
    mustFail: [
      'G9.1/hands-out-nothing',
      'G9.2/in-every-process',
      'G9.3/five-moves',
      'G9.1/worker-starts-nothing',
    ],
    over: 'memory',
    plant() {
      const paused = new Set<string>();
      return (backend) =>
        override(backend, {
          pacing: {
            pause: async (queue) => void paused.add(queue),
            resume: async (queue) => void paused.delete(queue),
            state: async (queue) => ({ paused: paused.has(queue) }),
          },
        });
    },
  },
  {
    id: 'pauses-one-process',
    bug: 'a pause holds only for the backend that made it',
    mustFail: ['G9.2/in-every-process'],
    over: 'memory',
    plant: each((backend) => {
      const paused = new Set<string>();
      return override(backend, {
        pacing: {
          pause: async (queue) => void paused.add(queue),
          resume: async (queue) => void paused.delete(queue),
          state: async (queue) => ({ paused: paused.has(queue) }),
        },
        async claim(request) {
          if (paused.has(request.queue)) return { leases: [], paused: true, leasedAt: performance.now() };
          return backend.claim(request);
        },
      });
    }),
  },
  {
    id: 'health-is-process-exists',
    bug: 'health is always well, whatever the store does',
    mustFail: ['G10.4/since-last-success'],
    over: 'memory',
    plant: each((backend) =>
      override(backend, {
        health: () => ({ ok: true, lastClaimOkAgoMs: 0, lastRenewOkAgoMs: 0, reason: null }),
      }),
    ),
  },
];

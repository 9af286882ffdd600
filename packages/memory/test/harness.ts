import { readFile } from 'node:fs/promises';
import type { Harness, HarnessNetwork, HarnessServer } from '@surety/conformance';
import type { Backend } from '@surety/core/contract';
import { createMemoryStore, createVirtualClock, type MemoryStore, memory } from '@surety/memory';

/**
 * Faults of profile `weak` while the suite asks it. Extra copies are left to the unit tests: the suite cannot see the
 * log that explains them.
 */
const WEAK_RATES = { duplicate: 0, emptyClaim: 0.1, unknownSettle: 0.02 };

/** The suite's way to the memory backend, on a virtual clock. Variants: null (strong) and `weak`. */
export function createHarness(variant: string | null): Harness {
  if (variant !== null && variant !== 'weak') {
    throw new Error(`The memory backend has no variant '${variant}'; there is 'weak', and null for strong.`);
  }
  const clock = createVirtualClock(Date.now());
  const store = createMemoryStore({ clock });
  const nowhere = createMemoryStore({ clock });
  nowhere.faults.refuse('refused');
  const connect = (to: MemoryStore): Backend =>
    variant === 'weak' ? memory({ profile: 'weak', store: to, faults: WEAK_RATES }) : memory({ store: to });

  return {
    name: 'memory',
    variant,
    versions: async () => ({ '@surety/memory': await version(), node: process.versions.node }),
    prepare: async () => undefined,
    destroy: async () => undefined,
    backend: (options = {}) => connect(options.unreachable === true ? nowhere : store),
    advance: (ms) => clock.advance(ms),
    corruptPayload: async (queue, id) => {
      if (!store.corruptPayload(queue, id)) throw new Error(`No job ${id} in ${queue}.`);
      return 'written';
    },
    server: serverOf(store),
    network: async () => networkOf(store, connect(store)),
  };
}

/** There is no server: its faults are those of the way to the store, and the data stay. */
function serverOf(store: MemoryStore): HarnessServer {
  const refuse = async (mode: 'refused' | 'frozen' | null): Promise<void> => store.faults.refuse(mode);
  return {
    stop: () => refuse('refused'),
    start: () => refuse(null),
    kill: () => refuse('refused'),
    pause: () => refuse('frozen'),
    resume: () => refuse(null),
    cutSessions: async () => store.faults.cutAll(),
  };
}

function networkOf(store: MemoryStore, backend: Backend): HarnessNetwork {
  const { faults } = store;
  return {
    backend,
    cut: async () => faults.cutConnection(backend),
    freeze: async () => faults.freeze(backend),
    dropAnswers: async () => faults.dropAnswers(backend),
    isolate: async () => faults.isolate(backend),
    delay: async (ms) => faults.delay(backend, ms),
    heal: async () => faults.heal(backend),
    close: async () => undefined,
  };
}

async function version(): Promise<string> {
  const manifest: unknown = JSON.parse(await readFile(new URL('../package.json', import.meta.url), 'utf8'));
  return (manifest as { readonly version: string }).version;
}

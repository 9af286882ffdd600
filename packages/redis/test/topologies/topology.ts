import type { HarnessNetwork, HarnessServer } from '@surety/conformance';
import type { Cluster, Redis } from 'ioredis';
import type { RedisOptions } from '../../src/index.ts';

/** The servers behind a variant of the harness, started. */
export interface Topology {
  readonly version: string;
  /** What a backend is given, here or in another process: JSON. */
  readonly connection: string | readonly string[];
  readonly server: HarnessServer;
  network(options: RedisOptions): Promise<HarnessNetwork>;
  /** A client of the test's own, which the caller disconnects. */
  connect(): Promise<Redis | Cluster>;
  destroy(): Promise<void>;
}

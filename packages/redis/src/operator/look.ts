import type { Client } from '../client.ts';
import type { Call } from '../deadline.ts';
import { allowed, parseConfig, parseInfo } from '../operations/read-server.ts';
import { askServer } from './ask-server.ts';

/** What one server tells about itself. */
export interface Look {
  /** Of INFO; null: this user may not ask. */
  readonly info: ReadonlyMap<string, string> | null;
  /** A setting, from CONFIG; null: it is not told. */
  readonly setting: (name: string) => string | null;
  /** Asks for its time: the answer in ms, and how long it took. */
  readonly time: () => Promise<{ readonly atMs: number; readonly tripMs: number }>;
}

const SETTINGS = [
  'maxmemory-policy',
  'appendfsync',
  'no-appendfsync-on-rewrite',
  'save',
  'min-replicas-to-write',
] as const;

export async function lookAt(server: Client, call: Call): Promise<Look> {
  const text = await allowed(server.info(), call);
  const settings = new Map<string, string>();
  for (const name of SETTINGS) {
    for (const [found, value] of parseConfig(await allowed(server.call('CONFIG', 'GET', name), call)))
      settings.set(found, value);
  }
  return {
    info: text === null ? null : parseInfo(text),
    setting: (name) => settings.get(name) ?? null,
    time: () => timeOf(server, call),
  };
}

async function timeOf(server: Client, call: Call): Promise<{ atMs: number; tripMs: number }> {
  const from = performance.now();
  const answer = await askServer(server, call, 'TIME');
  const [seconds, micros] = (answer as readonly unknown[]).map(Number);
  return { atMs: (seconds ?? 0) * 1000 + (micros ?? 0) / 1000, tripMs: performance.now() - from };
}

/** A figure of INFO; `fallback` where it is not told. */
export function figureOf(info: ReadonlyMap<string, string>, name: string, fallback = 0): number {
  const value = Number(info.get(name));
  return info.has(name) && Number.isFinite(value) ? value : fallback;
}

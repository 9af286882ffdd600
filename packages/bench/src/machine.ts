import { availableParallelism, cpus, loadavg, release, totalmem, type } from 'node:os';

/** Where a report was made. */
export interface Machine {
  readonly cpu: string;
  readonly cores: number;
  /** In bytes. */
  readonly memory: number;
  readonly node: string;
  readonly os: string;
}

export function describeMachine(): Machine {
  return {
    cpu: cpus()[0]?.model.trim() ?? 'unknown',
    cores: availableParallelism(),
    memory: totalmem(),
    node: process.version,
    os: `${type()} ${release()} ${process.arch}`,
  };
}

/** Processes that wanted a processor in the last minute. Above a small part of the cores, others disturb the figures. */
export function loadNow(): number {
  return loadavg()[0] ?? 0;
}

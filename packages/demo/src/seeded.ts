import { createHash } from 'node:crypto';

/** Change it, and other deliveries meet trouble. */
const SEED = 'surety';

/** A number in [0, 1) that depends on nothing but the seed and the words: the same in every run and in every process. */
export function seeded(...words: readonly string[]): number {
  const digest = createHash('sha256')
    .update([SEED, ...words].join('\0'))
    .digest();
  return digest.readUInt32BE(0) / 2 ** 32;
}

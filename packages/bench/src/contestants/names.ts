/** The name of our own contestant on every backend; all others but the next are peers. */
export const OURS = 'surety';

/** Ours with its line of log per attempt, which the peers and `OURS` do without. */
export const OURS_LOGGED = 'surety-logged';

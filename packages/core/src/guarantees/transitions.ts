/** Every legal move of a job, for the suite, the checker and the diagram in the docs. `gone` and `new` are no states. */
export const TRANSITIONS = [
  { verb: 'enqueue', from: 'new', to: 'ready' },
  { verb: 'enqueue', from: 'new', to: 'scheduled' },
  { verb: 'due', from: 'scheduled', to: 'ready' },
  { verb: 'claim', from: 'ready', to: 'leased' },
  { verb: 'complete', from: 'leased', to: 'gone' },
  { verb: 'retry', from: 'leased', to: 'scheduled' },
  { verb: 'retry', from: 'leased', to: 'ready' },
  { verb: 'release', from: 'leased', to: 'ready' },
  { verb: 'release', from: 'leased', to: 'scheduled' },
  { verb: 'expire', from: 'leased', to: 'ready' },
  { verb: 'bury', from: 'leased', to: 'dead' },
  { verb: 'redrive', from: 'dead', to: 'ready' },
  { verb: 'discard', from: 'dead', to: 'gone' },
] as const;
Object.freeze(TRANSITIONS);
for (const transition of TRANSITIONS) Object.freeze(transition);

export * from './backend.ts';
export * from './capabilities.ts';
export * from './job.ts';
export * from './lease.ts';
export * from './outcomes.ts';

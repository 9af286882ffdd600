import { postgres } from '@surety/postgres';

// region: migrate
// A step of the deploy, by the role that owns the schema. Twice, or ten at once, is as good as once.
const backend = postgres({ url: process.env['OWNER_URL'] ?? '' });
await backend.open({ timeoutMs: 60_000, notify: ({ kind }) => console.error(kind) });
await backend.close({ graceMs: 1000 });
// endregion

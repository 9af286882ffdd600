/** An application as a user writes it: compiled against the tarballs by every TypeScript, run on every Node. */
import { type Client, defineJob, handle } from '@surety/core';
import type { Backend } from '@surety/core/contract';
import { memory } from '@surety/memory';
import { createTestKit } from '@surety/memory/testing';
import { postgres } from '@surety/postgres';
import { sqlite } from '@surety/sqlite';

const resize = defineJob<{ readonly image: string }>('image.resize', {
  timeout: '1m',
  retry: { maxAttempts: 3, base: '1s', cap: '1m' },
});

/** Only compiled: were the published types `any`, nothing here would be an error, and the directives would be. */
export async function refused(client: Client): Promise<void> {
  // @ts-expect-error The payload has another type.
  await client.enqueue(resize, { image: 7 });
  // @ts-expect-error There is no such option.
  await client.enqueue(resize, { image: 'a.png' }, { dealy: '1h' });
  // @ts-expect-error A file or options, no number.
  sqlite(7);
}

const backends: readonly Backend[] = [
  memory(),
  sqlite({ file: 'never-opened.db' }),
  postgres({ url: 'postgres://127.0.0.1/never-opened' }),
];
const names = backends.map(({ name }) => name).join();
if (names !== 'memory,sqlite,postgres') throw new Error(`The backends are called ${names}.`);

const done: string[] = [];
const kit = createTestKit({
  handlers: [
    handle(resize, async ({ image }, ctx) => {
      const attempt: number = ctx.attempt;
      done.push(`${image}, attempt ${attempt}`);
      if (attempt === 1) throw new Error('Try again.');
    }),
  ],
});
const { status }: { readonly status: 'accepted' | 'duplicate' } = await kit.client.enqueue(resize, {
  image: 'a.png',
});
await kit.drain();
await kit.advance('1h');
await kit.drain();
await kit.close();
if (status !== 'accepted' || done.join() !== 'a.png, attempt 1,a.png, attempt 2')
  throw new Error(`${status}: ${done.join()}`);

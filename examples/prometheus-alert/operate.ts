/**
 * Plays the producers and the operator, beside the program:
 *
 *   node operate.ts enqueue images 5000
 *   node operate.ts enqueue invoices
 *   node operate.ts pause invoices
 *   node operate.ts resume invoices
 */
import { createClient } from '@surety/core';
import { sqlite } from '@surety/sqlite';
import { resizeImage, sendInvoice } from './jobs.ts';

const [verb, queue = '', count = '1'] = process.argv.slice(2);
const backend = sqlite(process.env['DATABASE'] ?? 'jobs.db');
await using client = createClient({ backend });
await client.start();

if (verb === 'pause') await backend.pacing.pause(queue, { timeoutMs: 5000 });
else if (verb === 'resume') await backend.pacing.resume(queue, { timeoutMs: 5000 });
else if (verb === 'enqueue' && queue === 'images') {
  const images = Array.from({ length: Number(count) }, (_, image) => ({
    job: resizeImage,
    input: { image },
  }));
  await client.enqueueMany(images);
} else if (verb === 'enqueue' && queue === 'invoices')
  await client.enqueue(sendInvoice, { invoice: `A-${Date.now()}` });
else throw new Error('usage: operate.ts enqueue|pause|resume images|invoices [count]');
console.log(`done: ${verb} ${queue}`);

import { defineJob } from '@surety/core';

/** Many, short, and nobody waits for one of them: a deep queue is an ordinary morning. */
export const resizeImage = defineJob<{ image: number }>('image.resize', { queue: 'images' });

/** Few, and each is waited for. */
export const sendInvoice = defineJob<{ invoice: string }>('invoice.send', { queue: 'invoices' });

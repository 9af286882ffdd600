import { defineJob } from '@surety/core';

export const sendReceipt = defineJob<{ orderId: string }>('receipt.send', { queue: 'mail', timeout: '30s' });

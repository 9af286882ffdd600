import { backendFor } from './backends.ts';
import type { Order } from './orders.ts';
import { runDay } from './shop.ts';

const orders: readonly Order[] = Array.from({ length: 20 }, (_, n) => ({
  number: n + 1,
  address: n % 7 === 6 ? '' : `${n + 1} Harbour Street`,
  cents: n % 9 === 8 ? 0 : 1000 + n,
}));

const address = process.argv[2] ?? 'sqlite:orders.db';
console.log(JSON.stringify(await runDay(() => backendFor(address), orders, 60_000), null, 2));

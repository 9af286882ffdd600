import { runInNewContext } from 'node:vm';
import { createClient, defineJob } from '@surety/core';
import { createMemoryStore, memory } from '@surety/memory';
import { describe, expect, test } from 'vitest';
import { payloadText } from '../../src/producer/payload-text.ts';
import { caught } from './caught.ts';
import { scriptedBackend } from './scripted-backend.ts';
import { seededRandom } from './seeded-random.ts';

const withHole: unknown[] = [1];
withHole[2] = 3;

class PrivateOnly {
  readonly #amount = 5;
  get amount(): number {
    return this.#amount;
  }
}
class Order {
  readonly id = 'o1';
  readonly lines = [1, 2];
}

const cycle: Record<string, unknown> = { deep: {} };
cycle['deep'] = { cycle };

function nested(depth: number): unknown {
  let value: unknown = 1;
  for (let level = 0; level < depth; level += 1) value = level % 2 === 0 ? [value] : { value };
  return value;
}

const throwing = (thrown: unknown) => ({
  toJSON() {
    throw thrown;
  },
});
const refusingProxy = new Proxy({}, { ownKeys: () => refuse('trap') });
function refuse(message: string): never {
  throw new Error(message);
}
const unreadable = new Proxy(
  {},
  {
    get: () => refuse('unreadable'),
    has: () => refuse('unreadable'),
    getPrototypeOf: () => refuse('unreadable'),
  },
);

const REFUSED: readonly (readonly [what: string, value: unknown, reason: RegExp])[] = [
  ['a bigint', 1n, /is a bigint/],
  ['a boxed bigint', Object(1n), /./],
  ['a function', () => 1, /is a function/],
  ['a class', Order, /is a function/],
  ['a symbol', Symbol('s'), /is a symbol/],
  ['NaN', Number.NaN, /is NaN/],
  ['Infinity', Number.POSITIVE_INFINITY, /is Infinity/],
  ['-Infinity', Number.NEGATIVE_INFINITY, /is -Infinity/],
  ['a boxed NaN', Object(Number.NaN), /is a Number/],
  ['a boxed lone surrogate', Object('\ud800'), /is a String/],
  ['a boxed boolean', Object(false), /is a Boolean/],
  ['an invalid date', new Date(Number.NaN), /invalid date/],
  ['an invalid date of another realm', runInNewContext('new Date(NaN)'), /invalid date/],
  ['a map', new Map([['a', 1]]), /is a Map/],
  ['an empty map', new Map(), /is a Map/],
  ['a map of another realm', runInNewContext('new Map([[1, 2]])'), /is a Map/],
  ['a set', new Set([1]), /is a Set/],
  ['a set with a property', Object.assign(new Set([1]), { a: 1 }), /is a Set/],
  ['a weak map', new WeakMap(), /is a WeakMap/],
  ['a promise', Promise.resolve(1), /is a Promise/],
  ['an error', new Error('gone'), /is a Error/],
  ['an error with a code', Object.assign(new TypeError('gone'), { code: 'ENOENT' }), /is a TypeError/],
  ['a pattern', /a/g, /is a RegExp/],
  ['an array buffer', new ArrayBuffer(2), /is a ArrayBuffer/],
  ['a typed array', new Uint8Array([1, 2]), /binary data/],
  ['an empty typed array', new Float64Array(0), /binary data/],
  ['a data view', new DataView(new ArrayBuffer(1)), /binary data/],
  ['a buffer', Buffer.from('abc'), /binary data/],
  ['search params', new URLSearchParams('a=1'), /is a URLSearchParams/],
  ['an instance with private fields only', new PrivateOnly(), /is a PrivateOnly/],
  ['a generator', (function* () {})(), /./],
  ['a lone high surrogate', 'a\ud800', /lone surrogate/],
  ['a lone low surrogate', '\udc00a', /lone surrogate/],
  ['a cycle', cycle, /refers to itself/],
  ['a depth of 100,000', nested(100_000), /nested too deeply/],
  ['a toJSON that throws', throwing(new Error('no.')), /reading it threw: no\.$/],
  ['a toJSON that throws undefined', throwing(undefined), /reading it threw: undefined\./],
  ['a toJSON that throws what cannot be read', throwing(unreadable), /reading it threw: a value that/],
  ['a toJSON that throws a range error', throwing(new RangeError('bad range')), /threw: bad range/],
  [
    'a getter that throws',
    {
      get a() {
        return refuse('getter');
      },
    },
    /threw: getter/,
  ],
  ['a proxy that throws', refusingProxy, /threw: trap/],
  ['a revoked proxy', revoked(), /reading it threw/],
];

function revoked(): unknown {
  const { proxy, revoke } = Proxy.revocable({}, {});
  revoke();
  return proxy;
}

describe('what JSON would change or lose is refused (B075, G7.4)', () => {
  test.each(REFUSED)('%s', async (_what, value, reason) => {
    for (const payload of [value, { value }, [value], { a: [{ value }] }]) {
      const error = await caught(() => payloadText(payload));
      expect(error.code).toBe('PAYLOAD_NOT_SUPPORTED');
      // The remedy follows once, after the full stop of what happened.
      expect(error.message.slice(0, -error.remedy.length - 1)).toMatch(reason);
      expect(error.message).toMatch(/^The payload cannot be stored: .+[^.]\. Send only/s);
    }
  });

  test('undefined: at the top and in arrays, also as a hole; a property is left out', async () => {
    for (const payload of [undefined, [undefined], { a: [1, undefined] }, withHole]) {
      expect((await caught(() => payloadText(payload))).code).toBe('PAYLOAD_NOT_SUPPORTED');
    }
    expect(payloadText({ a: undefined, b: 1 })).toBe('{"b":1}');
  });

  test('a toJSON that gives undefined at the top', async () => {
    expect((await caught(() => payloadText({ toJSON: () => undefined }))).code).toBe('PAYLOAD_NOT_SUPPORTED');
  });

  test('a lone surrogate in a property name', async () => {
    const error = await caught(() => payloadText({ deep: { 'a\udfff': 1 } }));
    expect(error.message).toContain('a property name holds a lone surrogate');
  });

  test('nothing of a refused payload reaches the backend, and the client goes on', async () => {
    const scripted = scriptedBackend();
    await using client = createClient({ backend: scripted.backend });
    const job = defineJob<unknown>('any');
    for (const [, value] of REFUSED) {
      expect((await caught(() => client.enqueue(job, { value }))).code).toBe('PAYLOAD_NOT_SUPPORTED');
    }
    expect(scripted.seen).toEqual([]);
    await client.enqueue(job, 'good');
    expect(scripted.calls.map(({ jobs }) => jobs.map(({ payload }) => payload))).toEqual([['"good"']]);
  });
});

describe('what is kept', () => {
  test('NUL, control characters, pairs and non-characters, in values and in names (B071, B074)', () => {
    const value = { 'k\u0000\u0007': ['x\u0000y', '\uffff\ufffe', '😀', '\u2028', '"\\/'], '': '' };
    const text = payloadText(value);
    expect(text).not.toContain('\u0000');
    expect(JSON.parse(text)).toEqual(value);
  });

  test('what has a JSON form of its own takes it: dates, URLs, an own toJSON', () => {
    const value = { at: new Date(0), link: new URL('http://a.test/b'), own: { toJSON: () => [1] } };
    expect(payloadText(value)).toBe('{"at":"1970-01-01T00:00:00.000Z","link":"http://a.test/b","own":[1]}');
  });

  test('an instance with own properties becomes a plain object; names that are symbols are left out', () => {
    expect(payloadText({ order: new Order(), [Symbol('hidden')]: 1 })).toBe(
      '{"order":{"id":"o1","lines":[1,2]}}',
    );
  });

  test('objects without prototype, of another realm, and empty ones', () => {
    const bare: unknown = Object.assign(Object.create(null), { a: 1 });
    expect(payloadText([bare, {}, [], runInNewContext('({ b: [{}] })')])).toBe('[{"a":1},{},[],{"b":[{}]}]');
  });

  test('an own property named __proto__, extreme numbers, primitives at the top', () => {
    const value: unknown = JSON.parse('{"__proto__":{"x":1},"constructor":1}');
    expect(payloadText(value)).toBe('{"__proto__":{"x":1},"constructor":1}');
    const numbers = [Number.MAX_VALUE, Number.MIN_VALUE, 2 ** 53, -1.5e-7, 0];
    expect(JSON.parse(payloadText(numbers))).toEqual(numbers);
    for (const top of ['', 0, true, null]) expect(JSON.parse(payloadText(top))).toBe(top);
  });

  test('a handler receives the stored text (B071)', async () => {
    const store = createMemoryStore();
    await using client = createClient({ backend: memory({ store }) });
    const value = { 'nul\u0000': 'a\u0000b' };
    const { id } = await client.enqueue(defineJob<unknown>('any', { queue: 'q' }), value);
    const reader = memory({ store });
    await reader.open({ timeoutMs: 1000, notify: () => undefined });
    const view = await reader.lookup?.find('q', id, { timeoutMs: 1000 });
    await reader.close({ graceMs: 100 });
    expect(view?.payload).toBe(JSON.stringify(value));
  });
});

describe('2,000 random values', () => {
  test('what is plain I-JSON comes back equal, in the text of JSON.stringify', () => {
    const random = seededRandom(71);
    for (let round = 0; round < 2000; round += 1) {
      const value = randomValue(random, 4);
      const text = payloadText(value);
      expect(text).toBe(JSON.stringify(value));
      expect(JSON.parse(text)).toEqual(value);
    }
  });

  test('with one bad value anywhere it is refused', async () => {
    const random = seededRandom(75);
    for (let round = 0; round < 2000; round += 1) {
      const [what, bad] = REFUSED[Math.floor(random() * REFUSED.length)] ?? ['', undefined];
      const error = await caught(() => payloadText(planted(random, bad, 1 + Math.floor(random() * 6))));
      expect(error.code, what).toBe('PAYLOAD_NOT_SUPPORTED');
    }
  });
});

const WORDS = ['', 'a', 'ключ', '😀', '\u0000', '\uffff', '__proto__x', '"', '\\u0041', 'length', 'toString'];

function randomValue(random: () => number, depth: number): unknown {
  const pick = Math.floor(random() * (depth > 0 ? 7 : 5));
  const length = Math.floor(random() * 5);
  if (pick === 0) return null;
  if (pick === 1) return random() < 0.5;
  if (pick === 2) return (random() - 0.5) * 10 ** Math.floor(random() * 40 - 20);
  if (pick === 3) return Math.floor(random() * 2 ** 53);
  if (pick === 4) return Array.from({ length }, () => wordOf(random)).join('');
  if (pick === 5) return Array.from({ length }, () => randomValue(random, depth - 1));
  return Object.fromEntries(
    Array.from({ length }, () => [wordOf(random), randomValue(random, depth - 1)] as const),
  );
}

function wordOf(random: () => number): string {
  return WORDS[Math.floor(random() * WORDS.length)] ?? '';
}

/** A random value with `bad` at a random place of the given depth. */
function planted(random: () => number, bad: unknown, depth: number): unknown {
  if (depth === 0) return bad;
  const inner = planted(random, bad, depth - 1);
  const others = Array.from({ length: Math.floor(random() * 3) }, () => randomValue(random, 2));
  const at = Math.floor(random() * (others.length + 1));
  if (random() < 0.5) return others.toSpliced(at, 0, inner);
  return Object.fromEntries(others.toSpliced(at, 0, inner).map((value, index) => [`k${index}`, value]));
}

import type { Backend } from '@surety/core/contract';

/**
 * The same backend with some members replaced; all else, state included, is the original's. A proxy, because an adapter
 * may be an object with private state; over an empty target, because it may be frozen.
 */
export function override(backend: Backend, members: Partial<Backend>): Backend {
  return new Proxy({} as Backend, {
    get(_, key) {
      if (Object.hasOwn(members, key)) return members[key as keyof Backend];
      const value: unknown = Reflect.get(backend, key, backend);
      return typeof value === 'function' ? (value.bind(backend) as unknown) : value;
    },
  });
}

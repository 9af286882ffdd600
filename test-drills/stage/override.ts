import type { Backend } from '@surety/core/contract';

/** The same backend with some members replaced. A proxy over an empty target: the original may be frozen or have private state. */
export function override(backend: Backend, members: Partial<Backend>): Backend {
  return new Proxy({} as Backend, {
    get(_, key) {
      if (Object.hasOwn(members, key)) return members[key as keyof Backend];
      const value: unknown = Reflect.get(backend, key, backend);
      return typeof value === 'function' ? (value.bind(backend) as unknown) : value;
    },
    has: (_, key) => key in backend,
  });
}

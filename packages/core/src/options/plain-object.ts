/** An object literal, also one without prototype or from another realm: no array, no Map, no instance of a class. */
export function isPlainObject(value: unknown): value is object {
  if (typeof value !== 'object' || value === null) return false;
  const prototype: unknown = Object.getPrototypeOf(value);
  if (prototype === Object.prototype || prototype === null) return true;
  // Every realm has an Object.prototype of its own; only at that one a chain ends after one step. (An array's ends after two.)
  return Object.getPrototypeOf(prototype) === null;
}

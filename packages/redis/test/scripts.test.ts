import { readdirSync, readFileSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import { scripts } from '../src/generated/scripts.ts';
import { keysOf } from '../src/keys.ts';

const FOLDER = new URL('../src/scripts/', import.meta.url);
const files = readdirSync(FOLDER).filter((name) => name.endsWith('.lua'));

describe('scripts', () => {
  test.each(files)('%s says what it does, with what, at which cost and why it is safe', (name) => {
    const text = readFileSync(new URL(name, FOLDER), 'utf8');
    for (const part of ['-- Keys:', '-- Arguments:', '-- Answer:', '-- Cost:', '-- Safe because:'])
      expect(text).toContain(part);
  });

  // B117: a key that a script makes up by itself may be on another node.
  test.each(Object.entries(scripts))('%s is given all its keys', (_, text) => {
    const firstArguments = [...text.matchAll(/\bcall\('[A-Z]+', ('[^']*')/g)].map(([, first]) => first);
    expect(firstArguments).toEqual([]);
    expect(text).not.toMatch(/KEYS\[\d+\] *\.\./);
  });

  test('all keys of a queue have its name as their hash tag, so that they are in one slot', () => {
    const keys: readonly string[] = Object.values(keysOf('pre:fix', 'mail')).flat(2);
    expect(keys.length).toBeGreaterThan(50);
    expect(new Set(keys.map((key) => /\{([^}]*)\}/.exec(key)?.[1]))).toEqual(new Set(['mail']));
  });
});

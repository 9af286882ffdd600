import { execFile } from 'node:child_process';
import { existsSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';

const MAIN = fileURLToPath(new URL('../src/main.ts', import.meta.url));

interface Run {
  readonly code: number;
  readonly stdout: string;
  readonly stderr: string;
}

let folder: string;

beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'surety-demo-test-'));
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

function runDemo(...words: readonly string[]): Promise<Run> {
  return new Promise((resolve) => {
    const args = ['--conditions=surety-source', MAIN, ...words];
    const child = execFile(process.execPath, args, { cwd: folder }, (_error, stdout, stderr) => {
      resolve({ code: child.exitCode ?? -1, stdout, stderr });
    });
  });
}

/** The figure of a line of the account or of the dead letters. */
function figure({ stdout }: Run, name: string): number {
  const found = new RegExp(`^  ${name} +(\\d+)(?: |$)`, 'm').exec(stdout);
  if (found === null) throw new Error(`no line '${name}' in:\n${stdout}`);
  return Number(found[1]);
}

describe.each(['sqlite', 'redis', 'rabbitmq'])('the demo on %s', (backend) => {
  it('accounts for every webhook although a worker is killed', { timeout: 120_000 }, async () => {
    const run = await runDemo('--backend', backend);
    expect(run.stderr).toBe('');
    expect(run.stdout).toContain('The account adds up: accepted 330 = completed 321 + dead 9, lost 0');
    expect(run.code).toBe(0);
    expect(figure(run, 'accepted')).toBe(330);
    expect(figure(run, 'completed')).toBe(321);
    expect(figure(run, 'dead')).toBe(9);
    expect(figure(run, 'lost')).toBe(0);
    expect(figure(run, 'effects')).toBe(321);
    // Sent twice only where the store can tell.
    if (backend === 'rabbitmq') expect(run.stdout).not.toContain('sent twice');
    else expect(run.stdout).toContain('20 sent twice: duplicates 20');
    // The worker was killed between the effect and the end of a job, and that job was not forgotten.
    expect(figure(run, 'ran twice')).toBeGreaterThanOrEqual(1);
    expect(figure(run, 'recovered')).toBeGreaterThanOrEqual(3);
    expect(figure(run, 'HANDLER_FAILED')).toBe(4);
    expect(figure(run, 'PAYLOAD_INVALID')).toBe(1);
    expect(figure(run, 'PERMANENT_FAILURE')).toBe(4);
    if (backend === 'sqlite') expect(existsSync(join(folder, 'surety-demo', 'jobs.db'))).toBe(true);
  });
});

describe('the command line', () => {
  it.each([
    ['an unknown option', ['--nonsense'], /--nonsense/],
    ['a word', ['sqlite'], /sqlite/],
    ['an unknown backend', ['--backend', 'tape'], /'tape'.*sqlite, postgres/],
    ['a backend of one process', ['--backend', 'memory'], /memory: its jobs live inside one process/],
  ])('refuses %s in one line', async (_what, words, message) => {
    const run = await runDemo(...words);
    expect(run.code).toBe(2);
    expect(run.stdout).toBe('');
    expect(run.stderr).toMatch(message);
    expect(run.stderr.trimEnd().split('\n')).toHaveLength(1);
  });

  it('explains itself', async () => {
    const run = await runDemo('--help');
    expect(run.code).toBe(0);
    expect(run.stdout).toContain('--backend NAME');
  });
});

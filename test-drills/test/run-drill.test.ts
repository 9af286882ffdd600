import { expect, test } from 'vitest';
import { sqlitePlace } from '../private/sqlite-place.ts';
import type { Drill } from '../stage/drill.ts';
import type { Place } from '../stage/place.ts';
import { reasonNotToRun, runDrill } from '../stage/run-drill.ts';

const SILENT = { update: () => undefined, print: () => undefined };
const SETTINGS = { seed: 1, quick: true, realTime: false, progress: SILENT };

function drillOf(run: Drill['run'], limitMs = 60_000): Drill {
  return { name: 'trial', summary: '', needs: [], limitMs, run };
}

async function verdictOf(drill: Drill): Promise<string> {
  await using place = await sqlitePlace();
  const { verdict, figures } = await runDrill(drill, {
    ...SETTINGS,
    place,
    signal: new AbortController().signal,
  });
  return `${verdict} ${JSON.stringify(figures['broken'])}`;
}

test('a drill that looked at nothing has not held', async () => {
  expect(await verdictOf(drillOf(async () => undefined))).toBe('broken ["anything was looked at"]');
});

test('one thing that does not hold breaks it, whatever held before and after', async () => {
  const drill = drillOf(async (stage) => {
    stage.must('one', true);
    stage.must('two', false, 'why');
    stage.must('two', true);
  });
  expect(await verdictOf(drill)).toBe('broken ["two: why"]');
});

test('what it throws is something that did not hold, and it is ended when its time is over', async () => {
  const thrown = drillOf(async () => {
    throw new Error('no', { cause: new Error('reason') });
  });
  expect(await verdictOf(thrown)).toBe('broken ["the drill came to its end: no (reason)"]');
  const endless = drillOf(async (stage) => stage.pause(600_000), 50);
  expect(await verdictOf(endless)).toContain('it did not end within');
});

test('an interruption takes down what was started', async () => {
  await using place = await sqlitePlace();
  const interruption = new AbortController();
  let folder = '';
  const drill = drillOf(async (stage) => {
    folder = stage.folder;
    interruption.abort(new Error('enough'));
    await stage.pause(600_000);
  });
  await expect(runDrill(drill, { ...SETTINGS, place, signal: interruption.signal })).rejects.toThrow(
    'enough',
  );
  const { existsSync } = await import('node:fs');
  expect(folder).not.toBe('');
  expect(existsSync(folder)).toBe(false);
});

test('what a place cannot do is said', () => {
  const place: Place = {
    backend: 'x',
    where: '',
    connect: { module: '', args: null },
    server: null,
    road: null,
    [Symbol.asyncDispose]: async () => undefined,
  };
  const needs = (...all: Drill['needs']): Drill => ({ ...drillOf(async () => undefined), needs: all });
  expect(reasonNotToRun(needs(), place)).toBe(null);
  expect(reasonNotToRun(needs('server'), place)).toContain('stops or kills the server');
  expect(reasonNotToRun(needs('network'), place)).toContain('breaks the network');
});

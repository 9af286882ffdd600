import type { Harness } from './harness.ts';
import { differences, readExpected } from './run/expected.ts';
import type { Report } from './run/report.ts';
import { runSuite, selectCases } from './run/run-suite.ts';
import { tableOf } from './run/table.ts';
import { type CaseResult, reasonNotToRun, type Waiver } from './run/verdict.ts';

/** The functions of the caller's test runner; vitest's fit as they are. */
export interface Runner {
  readonly describe: (name: string, body: () => Promise<void>) => unknown;
  readonly test: (name: string, body: () => Promise<void>, timeoutMs: number) => unknown;
}

/** What to ask, and with which runner. */
export interface ConformanceOptions extends Runner {
  readonly harness: Harness;
  readonly cost?: 'quick' | 'all';
  /** Ids that start so; left out: all. */
  readonly only?: string;
  /** The committed file of expectations, `new URL('./conformance.expected.json', import.meta.url)`. */
  readonly expected?: URL;
  readonly waivers?: readonly Waiver[];
}

/** Each test waits for its case, which may run late: the suite itself bounds every case. */
const TEST_LIMIT_MS = 900_000;

/**
 * Registers one test per case that applies, and one that compares the whole with the expected file. The cases start
 * together with the first test, several at once; a test only waits for its own. What does not apply is not registered,
 * but compared.
 */
export function conformance(options: ConformanceOptions): void {
  const { describe, test, harness, cost = 'quick', only = '' } = options;
  const title = harness.variant === null ? harness.name : `${harness.name} (${harness.variant})`;
  describe(`conformance of ${title}`, async () => {
    await harness.prepare();
    const { capabilities } = harness.backend();
    const run = lazily(() => start(options));
    for (const subject of selectCases(cost, only)) {
      if (reasonNotToRun(subject, capabilities, harness) !== null) continue;
      const about = subject.covers.length === 0 ? '' : ` (${subject.covers.join(', ')})`;
      test(
        `${subject.id} ${subject.title}${about}`,
        async () => check(await run().result(subject.id)),
        TEST_LIMIT_MS,
      );
    }
    test('ends as committed', async () => compare(await run().report, options.expected), TEST_LIMIT_MS);
  });
}

interface Run {
  readonly report: Promise<Report>;
  result(id: string): Promise<CaseResult>;
}

function start(options: ConformanceOptions): Run {
  const { harness, cost = 'quick', only = '', waivers = [] } = options;
  const open = new Map(selectCases(cost, only).map(({ id }) => [id, Promise.withResolvers<CaseResult>()]));
  const ask = async (): Promise<Report> => {
    try {
      return await runSuite({
        harness,
        cost,
        only,
        waivers,
        prepared: true,
        onResult: (result) => open.get(result.id)?.resolve(result),
      });
    } finally {
      await harness.destroy();
    }
  };
  const report = ask();
  report.catch((error: unknown) => {
    for (const { promise, reject } of open.values()) {
      promise.catch(() => {});
      reject(error);
    }
  });
  return {
    report,
    result: async (id) => {
      const waiting = open.get(id);
      if (waiting === undefined) throw new Error(`No case ${id}.`);
      return waiting.promise;
    },
  };
}

function lazily<T>(make: () => T): () => T {
  let made: { readonly value: T } | null = null;
  return () => (made ??= { value: make() }).value;
}

function check(result: CaseResult): void {
  if (result.status === 'failed') throw new Error(result.reason ?? 'failed');
}

function compare(report: Report, file: URL | undefined): void {
  if (report.totals.failed > 0) throw new Error(tableOf(report));
  if (file === undefined) return;
  const expected = readExpected(file);
  if (expected === null)
    throw new Error(`${file.pathname} is missing: npm run conformance -- NAME --update-expected`);
  const found = differences(report, expected);
  if (found.length > 0) throw new Error(`Differs from ${file.pathname}:\n${found.join('\n')}`);
}

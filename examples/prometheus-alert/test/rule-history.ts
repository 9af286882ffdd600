import type { Prometheus } from '@surety/testbed';

/** One evaluation of a recording rule. */
export interface Evaluation {
  readonly at: number;
  readonly value: number;
}

/** Every value that Prometheus has stored of a series since it started, oldest first; empty when there is no such series. */
export async function historyOf(prometheus: Prometheus, selector: string): Promise<readonly Evaluation[]> {
  const { result } = await prometheus.ask<{ result: readonly Series[] }>('/api/v1/query', {
    query: `${selector}[1h]`,
  });
  return result
    .flatMap(({ values }) => values)
    .map(([at, value]) => ({ at, value: Number(value) }))
    .sort((left, right) => left.at - right.at);
}

interface Series {
  readonly values: readonly (readonly [number, string])[];
}

/** Replaces what must be there, exactly once. */
export function replaced(text: string, from: string, to: string): string {
  const parts = text.split(from);
  if (parts.length !== 2) throw new Error(`the text holds "${from}" ${parts.length - 1} times, not once`);
  return parts.join(to);
}

import { ATTRIBUTES, METRICS, type MetricFacts } from '@surety/otel';

const SOURCES: Readonly<Record<MetricFacts['from'], string>> = {
  observeWorker: 'From the events of a worker',
  observeQueues: 'From the store, read when metrics are collected',
};

/** The tables of metrics and of their attributes. */
export function metricsPage(): string {
  const sections = Object.entries(SOURCES).map(([from, title]) => {
    const rows = Object.entries<MetricFacts>(METRICS)
      .filter(([, facts]) => facts.from === from)
      .map(([name, facts]) => metricRow(name, facts));
    return `## \`${from}\`: ${title}\n\n| name | kind | unit | attributes | meaning |\n| --- | --- | --- | --- | --- |\n${rows.join('')}`;
  });
  const attributes = Object.entries(ATTRIBUTES).map(
    ([name, { values, meaning }]) => `| \`${name}\` | ${values} | ${meaning} |\n`,
  );
  return `${INTRODUCTION}\n${sections.join('\n')}\n${ATTRIBUTE_HEAD}${attributes.join('')}\n${NOTES}`;
}

function metricRow(name: string, { kind, unit, attributes, meaning }: MetricFacts): string {
  const names = attributes.map((attribute) => `\`${attribute}\``).join(', ');
  return `| \`${name}\` | ${kind} | \`${unit}\` | ${names} | ${meaning} |\n`;
}

const INTRODUCTION = `# Metrics

\`@surety/otel\` measures with OpenTelemetry's API; the application brings the SDK and an exporter, and sets the meter provider before
it calls these two. Where no provider is set, no listener is added and the store is never read.

\`\`\`ts
const observed = observeWorker(worker);
const queues = observeQueues(backend);
// ... and at the end: await observed.stop(); await queues.stop();
\`\`\`

\`active\` of what they return says whether anything is measured. The four signals to begin with: depth (\`surety.queue.depth\`), age of
the oldest ready job (\`surety.queue.oldest_ready_age\`), attempts that jobs take (\`surety.job.end_attempt\`), failure rate
(\`surety.job.attempts\` by outcome). Alert on the age, not on the depth: \`examples/prometheus-alert\` shows why.
`;

const ATTRIBUTE_HEAD = `## Attributes

Every label has a bounded number of values; none carries an id of a job. The option \`attributes\` adds constant ones, for instance to tell
two backends apart.

| name | values | meaning |
| --- | --- | --- |
`;

const NOTES = `## Notes

- Each process that observes a queue reports the same store. Take \`max by\` over the processes, never \`sum\`.
- What a backend cannot tell (kind \`none\`) is not reported. What could be read before and cannot be read now is reported as NaN, since
  SDKs that cumulate would repeat the last value for ever; NaN is neither above nor below a threshold. While
  \`surety.queue.read.failures\` grows, an alert on a gauge is blind: alert on that too.
- A read of all queues ends within \`timeoutMs\` (5 s unless set); keep it below the time limit of the exporter or of the scrape.
  Collections within \`intervalMs\` (1 s unless set) share one read.
- Prometheus names: \`.\` becomes \`_\`, counters get \`_total\`. The collector's exporter and Prometheus' own OTLP receiver add the unit besides,
  as in \`surety_queue_oldest_ready_age_seconds\`; the Prometheus exporter for Node does not.
- Failure ratio of a type: attempts with outcome \`retried\`, \`dead\` or \`lease-lost\` over all but \`released\` and \`snoozed\`.
`;

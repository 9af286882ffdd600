import { setTimeout as sleep } from 'node:timers/promises';
import { metrics } from '@opentelemetry/api';
import { PrometheusExporter } from '@opentelemetry/exporter-prometheus';
import { MeterProvider } from '@opentelemetry/sdk-metrics';
import { createWorker, handle } from '@surety/core';
import { observeQueues, observeWorker } from '@surety/otel';
import { sqlite } from '@surety/sqlite';
import { resizeImage, sendInvoice } from './jobs.ts';

const port = Number(process.env['METRICS_PORT'] ?? 9464);

// The provider comes first: what is observed before it is set is not measured.
const exporter = new PrometheusExporter({ host: '127.0.0.1', port, preventServerStart: true });
const provider = new MeterProvider({ readers: [exporter] });
metrics.setGlobalMeterProvider(provider);

const backend = sqlite(process.env['DATABASE'] ?? 'jobs.db');
const worker = createWorker({
  backend,
  concurrency: 20,
  log: 'failures',
  handlers: [
    handle(resizeImage, () => sleep(20)),
    handle(sendInvoice, ({ invoice }) => console.log(`invoice ${invoice} was sent`)),
  ],
});
observeWorker(worker);
// Named, so that a queue which has never seen a job is told as empty: an alert can only end on what it sees.
const queues = observeQueues(backend, { queues: ['images', 'invoices'] });

process.once('SIGTERM', () => void stop());
process.once('SIGINT', () => void stop());
await exporter.startServer();
await worker.start();
console.log(`metrics on http://127.0.0.1:${port}/metrics`);

async function stop(): Promise<void> {
  await worker.stop();
  await queues.stop();
  await provider.shutdown();
}

import { describe, expect, it } from 'vitest';
import { rabbitmq } from '../src/index.ts';
import { resolveOptions } from '../src/options.ts';

const url = 'amqp://user:very-secret@127.0.0.1:5672/vhost';

describe('options', () => {
  it('have defaults', () => {
    expect(resolveOptions({ url })).toEqual({
      urls: [url],
      prefix: 'surety',
      queues: [],
      declare: true,
      consumerTimeoutMs: 1_800_000,
      heartbeatSeconds: 5,
      connectTimeoutMs: 5000,
    });
  });

  it.each([
    [{ url: 'redis://x' }],
    [{ url: 5 }],
    [{ url: [] }],
    [{ url: [url, 'http://x'] }],
    [{}],
    [{ url: 'amqp://user:very-secret@[' }],
    [{ url, prefix: 'a.b' }],
    [{ url, prefix: '' }],
    [{ url, queues: ['Not Allowed'] }],
    [{ url, declare: 'no' }],
    [{ url, consumerTimeoutMs: 1000 }],
    [{ url, heartbeatSeconds: 0 }],
    [{ url, connectTimeoutMs: 1.5 }],
    [{ url, hearbeatSeconds: 5 }],
  ])('refuse %j, without showing a password', (options) => {
    const refused = (): unknown => rabbitmq(options as never);
    expect(refused).toThrow(expect.objectContaining({ code: 'OPTIONS_INVALID' }));
    expect(refused).not.toThrow(/very-secret/);
  });

  it('decide how long a lease may be and when a frozen holder is noticed', () => {
    expect(rabbitmq({ url }).capabilities.lease).toMatchObject({ maxMs: 1_680_000, reclaimBoundMs: 16_000 });
    const patient = rabbitmq({ url, consumerTimeoutMs: 86_400_000, heartbeatSeconds: 20 });
    expect(patient.capabilities.lease).toMatchObject({ maxMs: 86_280_000, reclaimBoundMs: 61_000 });
  });
});

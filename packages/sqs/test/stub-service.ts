import { once } from 'node:events';
import { createServer, type IncomingHttpHeaders, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';

/** A request as it arrived. */
interface Heard {
  readonly action: string;
  readonly headers: IncomingHttpHeaders;
  readonly body: string;
}

/** A service that answers as it is told, and keeps what it was asked. */
export interface StubService extends AsyncDisposable {
  readonly endpoint: string;
  readonly heard: Heard[];
  answer: (heard: Heard, response: ServerResponse) => void;
}

/** Says yes to everything. */
export async function startStub(): Promise<StubService> {
  const server = createServer((request, response) => {
    void text(request).then((body) => {
      const [, action = ''] = String(request.headers['x-amz-target']).split('.');
      const heard = { action, headers: request.headers, body };
      stub.heard.push(heard);
      stub.answer(heard, response);
    });
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  const stub: StubService = {
    endpoint: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    heard: [],
    answer: (_, response) => reply(response, 200, {}),
    async [Symbol.asyncDispose]() {
      server.closeAllConnections();
      server.close();
    },
  };
  return stub;
}

export function reply(
  response: ServerResponse,
  status: number,
  content: unknown,
  headers: Readonly<Record<string, string>> = {},
): void {
  response.writeHead(status, { 'content-type': 'application/x-amz-json-1.0', ...headers });
  response.end(typeof content === 'string' ? content : JSON.stringify(content));
}

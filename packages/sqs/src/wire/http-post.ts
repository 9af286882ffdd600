import { type Agent as HttpAgent, request as httpRequest, type IncomingHttpHeaders } from 'node:http';
import { type Agent as HttpsAgent, request as httpsRequest } from 'node:https';

/** Where to. */
export interface Place {
  readonly secure: boolean;
  readonly hostname: string;
  readonly port: number;
  readonly path: string;
}

export interface Agents {
  readonly http: HttpAgent;
  readonly https: HttpsAgent;
}

export interface Answer {
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
  readonly text: string;
}

/** A connection that is not made within this time is not made. */
export const CONNECT_MS = 5000;

/**
 * One POST; the answer whatever its status. Rejects with an error named AbortError when the signal aborts, TimeoutError when no connection was made
 * in time, or with the error of the connection. An answer that breaks off is no answer.
 */
export function post(
  { secure, hostname, port, path }: Place,
  agents: Agents,
  headers: readonly string[],
  body: string,
  signal: AbortSignal,
): Promise<Answer> {
  return new Promise((resolve, reject) => {
    if (signal.aborted) return reject(named('AbortError', 'The request was aborted.'));
    const options = { method: 'POST', hostname, port, path, headers };
    const request = secure
      ? httpsRequest({ ...options, agent: agents.https })
      : httpRequest({ ...options, agent: agents.http });
    const onAbort = (): void => fail(named('AbortError', 'The request was aborted.'));
    const fail = (error: Error): void => {
      signal.removeEventListener('abort', onAbort);
      reject(error);
      request.destroy();
    };
    signal.addEventListener('abort', onAbort, { once: true });
    // After the end there may come another; it has to have a listener.
    request.on('error', fail);
    request.on('socket', (socket) => {
      if (!socket.connecting) return;
      const timer = setTimeout(
        () => fail(named('TimeoutError', `No connection was made within ${CONNECT_MS} ms.`)),
        CONNECT_MS,
      );
      const connected = (): void => clearTimeout(timer);
      socket.once(secure ? 'secureConnect' : 'connect', connected);
      request.once('close', connected);
    });
    request.on('response', (response) => {
      let text = '';
      response.setEncoding('utf8');
      response.on('data', (chunk: string) => {
        text += chunk;
      });
      response.on('error', fail);
      response.on('end', () => {
        signal.removeEventListener('abort', onAbort);
        resolve({ status: response.statusCode ?? 0, headers: response.headers, text });
      });
    });
    request.end(body);
  });
}

function named(name: string, message: string): Error {
  return Object.assign(new Error(message), { name });
}

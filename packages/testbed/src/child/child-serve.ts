import type { Call, ChildError, FromChild } from './messages.ts';

/** A method of a child: JSON in, JSON out. `undefined` arrives as `null` within objects, as JSON has it. */
export type ChildMethod = (params: never) => unknown;

/**
 * For a script started by `startChild`: answers its calls, several at a time, and ends the process when the parent is
 * gone. Call it once everything that the methods need is ready, since `startChild` resolves then.
 */
export function serveChild(methods: Readonly<Record<string, ChildMethod>>): void {
  if (process.send === undefined) throw new Error('serveChild is for scripts started by startChild');
  process.on('message', (call: Call) => {
    void answer(methods, call);
  });
  // Without a parent nobody can end this process any more.
  process.on('disconnect', () => process.exit());
  send({ kind: 'ready' });
}

async function answer(methods: Readonly<Record<string, ChildMethod>>, call: Call): Promise<void> {
  try {
    const method = methods[call.method];
    if (method === undefined) throw new Error(`this child has no method ${call.method}`);
    send({ kind: 'returned', id: call.id, result: await method(call.params as never) });
  } catch (error) {
    send({ kind: 'threw', id: call.id, error: asJson(error) });
  }
}

function send(message: FromChild): void {
  // A channel that closed meanwhile has nobody to tell; `disconnect` ends the process.
  process.send?.(message, undefined, undefined, () => undefined);
}

function asJson(error: unknown): ChildError {
  if (!(error instanceof Error)) return { message: String(error) };
  const code = (error as { code?: unknown }).code;
  return {
    message: error.message,
    ...(typeof code === 'string' && { code }),
    ...(error.stack !== undefined && { stack: error.stack }),
  };
}

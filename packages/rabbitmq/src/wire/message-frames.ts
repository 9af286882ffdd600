import type { Outgoing } from './publisher.ts';

/** Of each frame: kind, channel, size, and the mark of its end. */
const FRAME_BYTES = 8;
/** basic.publish: class, method, reserved, the two lengths, flags. */
const METHOD_BYTES = 2 + 2 + 2 + 1 + 1 + 1;
/** Class, weight, size of the body, which properties there are; then the length of the headers and the delivery mode. */
const HEADER_BYTES = 2 + 2 + 8 + 2 + 4 + 1;
/** Length of its name, kind of its value, length of that. */
const FIELD_BYTES = 1 + 1 + 4;
const KIND = { method: 1, header: 2, body: 3 } as const;
const END = 0xce;
const BASIC = 60;
const PUBLISH = 40;
const LONG_STRING = 0x53;
const PERSISTENT = 2;
const HAS = {
  headers: 0x2000,
  deliveryMode: 0x1000,
  messageId: 0x80,
} as const;
const SHORT_STRING = 255;

/** Bytes of a message in its three frames; null: it needs more frames, or has what is not written here. */
export function lengthOf({ exchange, key, body, options }: Outgoing, frameMax: number): number | null {
  const method = METHOD_BYTES + Buffer.byteLength(exchange) + Buffer.byteLength(key);
  let header = HEADER_BYTES;
  const id = Buffer.byteLength(options.messageId);
  if (id > SHORT_STRING) return null;
  header += 1 + id;
  for (const name in options.headers) {
    const value = options.headers[name];
    if (typeof value !== 'string') return null;
    header += FIELD_BYTES + Buffer.byteLength(name) + Buffer.byteLength(value);
  }
  if (Math.max(method, header, body.length) + FRAME_BYTES > frameMax) return null;
  const frames = body.length > 0 ? 3 : 2;
  return method + header + body.length + frames * FRAME_BYTES;
}

/** Writes basic.publish, persistent, with its properties and its body; where it ends. */
export function writeMessage(
  to: Buffer,
  at: number,
  channel: number,
  { exchange, key, body, options }: Outgoing,
): number {
  let end = frameAt(to, at, KIND.method, channel);
  end = to.writeUInt16BE(BASIC, end);
  end = to.writeUInt16BE(PUBLISH, end);
  end = to.writeUInt16BE(0, end);
  end = shortString(to, end, exchange);
  end = shortString(to, end, key);
  end = to.writeUInt8(options.mandatory === false ? 0 : 1, end);
  end = frameEnd(to, at, end);
  end = properties(to, end, channel, body.length, options);
  if (body.length === 0) return end;
  const start = end;
  end = frameAt(to, start, KIND.body, channel);
  end += body.copy(to, end);
  return frameEnd(to, start, end);
}

function properties(
  to: Buffer,
  at: number,
  channel: number,
  bodyBytes: number,
  options: Outgoing['options'],
): number {
  const { messageId, headers } = options;
  let end = frameAt(to, at, KIND.header, channel);
  end = to.writeUInt16BE(BASIC, end);
  end = to.writeUInt16BE(0, end);
  end = to.writeUInt32BE(0, end);
  end = to.writeUInt32BE(bodyBytes, end);
  end = to.writeUInt16BE(HAS.headers | HAS.deliveryMode | HAS.messageId, end);
  const table = end;
  end += 4;
  for (const name in headers) {
    end = shortString(to, end, name);
    end = to.writeUInt8(LONG_STRING, end);
    end = longString(to, end, String(headers[name]));
  }
  to.writeUInt32BE(end - table - 4, table);
  end = to.writeUInt8(PERSISTENT, end);
  end = shortString(to, end, messageId);
  return frameEnd(to, at, end);
}

/** The size is written when the end is known. */
function frameAt(to: Buffer, at: number, kind: number, channel: number): number {
  to.writeUInt8(kind, at);
  to.writeUInt16BE(channel, at + 1);
  return at + 7;
}

function frameEnd(to: Buffer, at: number, end: number): number {
  to.writeUInt32BE(end - at - 7, at + 3);
  return to.writeUInt8(END, end);
}

function shortString(to: Buffer, at: number, text: string): number {
  const bytes = to.write(text, at + 1, 'utf8');
  to.writeUInt8(bytes, at);
  return at + 1 + bytes;
}

function longString(to: Buffer, at: number, text: string): number {
  const bytes = to.write(text, at + 4, 'utf8');
  to.writeUInt32BE(bytes, at);
  return at + 4 + bytes;
}

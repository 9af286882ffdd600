import type { Outgoing } from './publisher.ts';

/** Of each frame: kind, channel, size, and the mark of its end. */
const FRAME_BYTES = 1 + 2 + 4 + 1;
/** basic.publish: class, method, reserved, the two lengths, flags. */
const METHOD_BYTES = 2 + 2 + 2 + 1 + 1 + 1;
/** Class, weight, size of the body, which properties there are; then the length of the headers and the delivery mode. */
const HEADER_BYTES = 2 + 2 + 8 + 2 + 4 + 1;
/** Length of its name, kind of its value, length of that. */
const FIELD_BYTES = 1 + 1 + 4;
/** Where in a header frame the size of the body has its lower four bytes. */
const BODY_SIZE_AT = 1 + 2 + 4 + 2 + 2 + 4;
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

/** Where a message goes, and whether it comes back when nobody takes it. */
export interface Place {
  readonly exchange: string;
  readonly key: string;
  readonly isMandatory: boolean;
}

/** Bytes of a body, which may be text. */
export function bytesOf(body: Outgoing['body']): number {
  return typeof body === 'string' ? Buffer.byteLength(body) : body.length;
}

/** Bytes of a message in its three frames; null: it needs more frames, or has what is not written here. */
export function lengthOf(
  { exchange, key, options }: Outgoing,
  bodyBytes: number,
  frameMax: number,
): number | null {
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
  if (Math.max(method, header, bodyBytes) + FRAME_BYTES > frameMax) return null;
  const frames = bodyBytes > 0 ? 3 : 2;
  return method + header + bodyBytes + frames * FRAME_BYTES;
}

/** Writes basic.publish, persistent, with its properties and its body; where it ends. */
export function writeMessage(
  to: Buffer,
  at: number,
  channel: number,
  { exchange, key, body, options }: Outgoing,
  bodyBytes: number,
): number {
  let end = publishMethod(to, at, channel, { exchange, key, isMandatory: options.mandatory !== false });
  end = properties(to, end, channel, bodyBytes, options);
  return bodyBytes === 0 ? end : bodyFrame(to, end, channel, body, bodyBytes);
}

function publishMethod(to: Buffer, at: number, channel: number, place: Place): number {
  let end = frameAt(to, at, KIND.method, channel);
  end = to.writeUInt16BE(BASIC, end);
  end = to.writeUInt16BE(PUBLISH, end);
  end = to.writeUInt16BE(0, end);
  end = shortString(to, end, place.exchange);
  end = shortString(to, end, place.key);
  end = to.writeUInt8(place.isMandatory ? 1 : 0, end);
  return frameEnd(to, at, end);
}

function bodyFrame(
  to: Buffer,
  at: number,
  channel: number,
  body: Outgoing['body'],
  bodyBytes: number,
): number {
  const from = frameAt(to, at, KIND.body, channel);
  if (typeof body !== 'string') body.copy(to, from);
  // As many bytes as characters: all of them are ASCII.
  else to.write(body, from, body.length === bodyBytes ? 'latin1' : 'utf8');
  return frameEnd(to, at, from + bodyBytes);
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

/**
 * Writes messages that go to one place and have no headers. All of such a message but its body, the size of that and its id is the same each time, and is copied:
 * field by field it takes several times as long.
 */
export class PlainFrames {
  readonly #channel: number;
  readonly #place: Place;
  /** Method frame, and header frame up to the id. */
  readonly #start: Buffer;
  readonly #headerAt: number;

  constructor(channel: number, place: Place) {
    this.#channel = channel;
    this.#place = place;
    const names = Buffer.byteLength(place.exchange) + Buffer.byteLength(place.key);
    const to = Buffer.alloc(METHOD_BYTES + HEADER_BYTES + 2 * FRAME_BYTES + names);
    this.#headerAt = publishMethod(to, 0, channel, place);
    let end = frameAt(to, this.#headerAt, KIND.header, channel);
    end = to.writeUInt32BE(BASIC * 0x10000, end);
    // Behind it the size of the body, in eight bytes.
    end = to.writeUInt16BE(HAS.deliveryMode | HAS.messageId, end + 8);
    end = to.writeUInt8(PERSISTENT, end);
    this.#start = to.subarray(0, end);
  }

  isFor({ exchange, key, options }: Outgoing): boolean {
    const place = this.#place;
    return (
      place.key === key && place.exchange === exchange && place.isMandatory === (options.mandatory !== false)
    );
  }

  /** As `lengthOf`. */
  lengthOf(id: string, bodyBytes: number, frameMax: number): number | null {
    if (id.length > SHORT_STRING || bodyBytes + FRAME_BYTES > frameMax) return null;
    const head = this.#start.length + 1 + id.length + 1;
    return bodyBytes === 0 ? head : head + bodyBytes + FRAME_BYTES;
  }

  /** As `writeMessage`. The id is of ASCII. */
  write(to: Buffer, at: number, id: string, body: Outgoing['body'], bodyBytes: number): number {
    const start = this.#start;
    const header = at + this.#headerAt;
    start.copy(to, at);
    to.writeUInt32BE(bodyBytes, header + BODY_SIZE_AT);
    let end = at + start.length;
    to[end] = id.length;
    to.write(id, end + 1, 'latin1');
    end = frameEnd(to, header, end + 1 + id.length);
    return bodyBytes === 0 ? end : bodyFrame(to, end, this.#channel, body, bodyBytes);
  }
}

import type { Message } from 'amqplib';
import type { Stay } from '../ladder.ts';

/** The AMQP header of a waiting job: when it may leave its level, and when it is due. */
const HEADER = 'surety-wait';
const WRITTEN = /^(\d{1,16}) (\d{1,16})$/;

export function stayHeader({ leavesAt, dueAt }: Stay): Readonly<Record<string, string>> {
  return { [HEADER]: `${Math.ceil(leavesAt)} ${Math.ceil(dueAt)}` };
}

/** What has no such header waits for nothing: it is none of ours, and goes where such things are buried. */
export function readStay({ properties }: Message): Pick<Stay, 'leavesAt' | 'dueAt'> {
  const [, leavesAt, dueAt] = WRITTEN.exec(String(properties.headers?.[HEADER])) ?? [];
  return { leavesAt: Number(leavesAt ?? 0), dueAt: Number(dueAt ?? 0) };
}

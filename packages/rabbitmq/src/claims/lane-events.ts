import type { Message } from 'amqplib';
import type { Lane } from './lane.ts';

/** What a lane tells its backend. */
export interface LaneEvents {
  /** Delivered, and nobody asks for them any more. */
  readonly unclaimed: (lane: Lane, messages: readonly Message[]) => Promise<void>;
  /** The channel is gone, and what was held over it. `cancelled`: the broker ended a consumer. */
  readonly ended: (lane: Lane, reason: unknown, cancelled: boolean) => void;
}

/** The broker ended a consumer. */
export const CANCELLED: Error = new Error('channel closed: the broker cancelled the consumer');
/** The reason of an end that is nobody's fault. */
export const RENEWED: Error = new Error('channel closed: another takes its place');

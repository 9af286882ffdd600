/** Where an SQS service is. The credentials may be anything. */
export interface SqsAccess {
  /** `http://127.0.0.1:port`. */
  readonly endpoint: string;
  readonly region: string;
  /** Of the emulator, like `fauxqs 2.4.1`. */
  readonly version: string;
}

/** What the real service does and an emulator never would. Chances from 0 to 1, drawn from the seed; all are 0 unless set. */
export interface SqsFaults {
  readonly seed: number;
  /** Per request: refused with RequestThrottled, nothing done. */
  readonly throttled: number;
  /** Per request: 503, nothing done. */
  readonly unavailable: number;
  /** Per entry of a batch: it alone failed, nothing done for it. */
  readonly failedEntry: number;
  /** Per request of an action: done, and the connection breaks before the answer. */
  readonly lostAnswer: Readonly<Partial<Record<SqsAction, number>>>;
  /** Per message that is handed out: it is handed out a second time at once. */
  readonly duplicateReceive: number;
  /** Per message that is deleted: it comes back. */
  readonly deletedComesBack: number;
  /** Per receive that does not wait: empty although there are messages. */
  readonly emptyReceive: number;
  /** Per receive: fewer messages than were asked for and are there. */
  readonly shortReceive: number;
  /** Messages come in any order. */
  readonly shuffled: boolean;
}

/** The requests that the fault layer tells apart. */
export type SqsAction =
  | 'SendMessage'
  | 'SendMessageBatch'
  | 'ReceiveMessage'
  | 'DeleteMessage'
  | 'DeleteMessageBatch'
  | 'ChangeMessageVisibility'
  | 'ChangeMessageVisibilityBatch'
  | 'GetQueueAttributes'
  | 'GetQueueUrl'
  | 'ListQueues'
  | 'ListQueueTags'
  | 'TagQueue'
  | 'UntagQueue'
  | 'CreateQueue';

/** One fault that was injected. */
export interface SqsFault {
  readonly kind:
    | 'throttled'
    | 'unavailable'
    | 'failed-entry'
    | 'lost-answer'
    | 'duplicate'
    | 'came-back'
    | 'empty-receive'
    | 'stale-delete';
  readonly action: string;
  /** The first 200 characters of the bodies that it concerns. */
  readonly bodies: readonly string[];
}

/**
 * A private emulator of SQS, behind a layer that keeps the limits which the emulator forgets (delays of 900 s, 12 hours of visibility, whole numbers, ten
 * attributes) and injects faults. Operations wait for each other in the order they were called.
 */
export interface SqsServer extends SqsAccess, AsyncDisposable {
  readonly host: string;
  readonly port: number;
  stop(): Promise<void>;
  /** On the same port with the same data. */
  start(): Promise<void>;
  /** SIGKILL. */
  kill(): Promise<void>;
  /** Freezes the process: connections stay, nothing answers. */
  pause(): Promise<void>;
  resume(): Promise<void>;
  cutConnections(): Promise<void>;
  /** In force until changed, over restarts too; what is left out is off. */
  setFaults(faults: Partial<SqsFaults>): Promise<void>;
  /** Since the last start. */
  faultLog(): Promise<readonly SqsFault[]>;
  /**
   * As if this much time had passed for all messages of some queues, and for the delayed ones of others. With `expires` those that are then
   * older than the retention of their queue are gone; the emulator itself forgets that.
   */
  elapse(
    queues: {
      readonly all: readonly string[];
      readonly delayed: readonly string[];
      readonly expires?: boolean;
    },
    ms: number,
  ): Promise<void>;
  /** Changes the text of a visible message that contains `part`; false: there is none. */
  edit(
    queue: string,
    part: string,
    replacement: { readonly from: string; readonly to: string },
  ): Promise<boolean>;
  /** Requests by action since the last start or the last asking. */
  takeRequestCounts(): Promise<Readonly<Record<string, number>>>;
  /** Ends it at once and removes all it left. */
  destroy(): Promise<void>;
}

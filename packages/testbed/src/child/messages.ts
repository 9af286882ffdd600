/** What goes over the channel between `startChild` and `serveChild`. Values are JSON. */
export interface Call {
  readonly id: number;
  readonly method: string;
  readonly params: unknown;
}

export type FromChild =
  | { readonly kind: 'ready' }
  | { readonly kind: 'returned'; readonly id: number; readonly result: unknown }
  | { readonly kind: 'threw'; readonly id: number; readonly error: ChildError };

export interface ChildError {
  readonly message: string;
  readonly code?: string;
  readonly stack?: string;
}

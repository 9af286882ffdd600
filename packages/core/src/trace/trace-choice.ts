import { SuretyError } from '../errors/index.ts';
import { messageOf } from '../errors/message-of.ts';
import { openTrace, type Trace } from './trace-file.ts';

/** The path of a file, opened and closed by who is given it, or a trace that its owner closes. */
export type TraceChoice = string | Trace;

/** A trace in use by a worker or client. */
export interface TraceUse {
  readonly trace: Trace;
  /** Closes what was opened here. Never throws: at the end of a worker nobody could act on it, and the process is told by a warning. */
  end(): void;
}

/** Throws OPTIONS_INVALID for what is neither. */
export function checkedTrace(given: unknown): TraceChoice | null {
  if (given === undefined) return null;
  if (typeof given === 'string' && given !== '') return given;
  if (typeof (given as Partial<Trace> | null)?.record === 'function') return given as Trace;
  throw new SuretyError('OPTIONS_INVALID', 'trace takes the path of a file, or what openTrace returned.');
}

/** Throws OPTIONS_INVALID when the file cannot be opened. */
export function useTrace(choice: TraceChoice | null): TraceUse | null {
  if (choice === null) return null;
  if (typeof choice !== 'string') return { trace: choice, end: () => undefined };
  const trace = openTrace(choice);
  const end = (): void => {
    try {
      trace.close();
    } catch (error) {
      process.emitWarning(`The end of the trace is missing: ${messageOf(error)}`, 'SuretyTraceWarning');
    }
  };
  return { trace, end };
}

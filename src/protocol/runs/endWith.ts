import { RuntimeError } from '../errors.ts'
import { RunHandle, type Run } from './run.ts'

/** Options of a call that starts a run: those of its command, and its signal. */
export interface Signalled<O> {
  readonly options: O
  readonly signal: AbortSignal | undefined
}

/**
 * Separates the signal from the options of a run, because it is not part of the command.
 * @throws RuntimeError `INVALID_OPTION`
 */
export function signalIn<O extends { readonly signal?: AbortSignal | undefined }>({
  signal,
  ...options
}: O): Signalled<Omit<O, 'signal'>> {
  if (signal !== undefined && !(signal instanceof AbortSignal))
    throw new RuntimeError('INVALID_OPTION', `signal is of type ${typeof signal}, not an AbortSignal.`)
  return { options, signal }
}

/** Returns a run that never starts because its signal was already aborted. */
export function neverRun(): Run {
  const run = new RunHandle('')
  run.cancel('aborted')
  return run
}

/** Makes the signal abort this run and no later one. `abort` gets the id of its request. */
export function endWith(run: Run, signal: AbortSignal | undefined, abort: (requestId: string) => void): Run {
  if (signal === undefined) return run
  const end = (): void => abort(run.requestId)
  signal.addEventListener('abort', end, { once: true })
  void run.result.then(() => signal.removeEventListener('abort', end))
  return run
}

import { isOver, stopwatch, timeoutFactor } from './deadline.ts'

/** Context that a case gets. */
export interface CaseContext {
  /** Aborted when the case has missed its deadline. */
  readonly signal: AbortSignal
  /** Runs `undo` after the case, passed or failed, last registered first; one that throws fails the case. */
  cleanup(undo: () => unknown): void
}

export type CaseBody = (context: CaseContext) => unknown

export interface CaseOptions {
  /** Milliseconds the case may take, and each of its cleanups; default 2,000. */
  readonly timeoutMs?: number
  /** How often a case that failed is tried again; default 0. Only for what others decide, such as a browser: elsewhere a flake is a defect. */
  readonly retries?: number
}

/** One failure of a case or a file: where in its life, and what was thrown. */
export interface Failure {
  readonly during: 'case' | 'cleanup' | 'file' | 'unhandled rejection' | 'uncaught exception'
  readonly thrown: unknown
}

/** Lets everything already settled report itself: an unhandled rejection is announced after the microtasks. */
export const nextTurn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve))

/**
 * Waits for `work` at most `ms`, times the factor of the environment, longer on a busy machine (`isOver`); then rejects,
 * after it has called `onLate` with the error.
 */
export async function within<T>(
  ms: number,
  what: string,
  work: () => T,
  onLate?: (error: Error) => void,
): Promise<Awaited<T>> {
  const limit = ms * timeoutFactor()
  const elapsed = stopwatch()
  const late = new Error(`${what} took longer than ${limit} ms`)
  let timer: NodeJS.Timeout | undefined
  const deadline = new Promise<never>((_, reject) => {
    const look = (): void => {
      if (!isOver(elapsed(), limit)) return void (timer = setTimeout(look, limit / 4))
      reject(late)
      onLate?.(late)
    }
    timer = setTimeout(look, limit)
  })
  try {
    const value = await Promise.race([(async () => await work())(), deadline])
    // A body that never yields lets no timer fire.
    if (isOver(elapsed(), limit)) throw late
    return value
  } finally {
    clearTimeout(timer)
  }
}

/** Runs one case and its cleanups, last in first out; every cleanup runs. Never rejects: returns what went wrong. */
export async function runCase({
  body,
  timeoutMs,
}: {
  readonly body: CaseBody
  readonly timeoutMs: number
}): Promise<readonly Failure[]> {
  const failures: Failure[] = []
  const undos: (() => unknown)[] = []
  const controller = new AbortController()
  let open = true
  const cleanup = (undo: () => unknown): void => {
    if (!open) throw new Error('cleanup() was called after the case had ended')
    undos.push(undo)
  }
  try {
    const run = () => body({ signal: controller.signal, cleanup })
    await within(timeoutMs, 'the case', run, (late) => controller.abort(late))
  } catch (thrown) {
    failures.push({ during: 'case', thrown })
  }
  for (let undo = undos.pop(); undo !== undefined; undo = undos.pop()) {
    try {
      await within(timeoutMs, 'the cleanup', undo)
    } catch (thrown) {
      failures.push({ during: 'cleanup', thrown })
    }
  }
  open = false
  await nextTurn()
  return failures
}

import type { Logger } from './ports/logger.ts'

/** Emits a process warning; without a process, as in a page, writes to the console. */
export function warnProcess(message: string): void {
  const { process, console } = globalThis as Partial<Pick<typeof globalThis, 'process' | 'console'>>
  if (process?.emitWarning === undefined) console?.warn(message)
  else process.emitWarning(message, 'EscapementWarning')
}

/** Maximum number of distinct messages reported for one place, and of places remembered. */
const mostMessages = 10
const mostPlaces = 1_000

function stackOf(thrown: unknown): string {
  if (!(thrown instanceof Error)) return `${wordsOf(thrown)}, which is no Error, so nothing tells where`
  const { stack, cause } = thrown
  const own = stack?.includes(thrown.message) === true ? stack : `${String(thrown)}\n${stack ?? ''}`
  return cause instanceof Error ? `${own}\nCaused by: ${stackOf(cause)}` : own
}

/** Returns the message of any thrown value, whose own methods may throw too. */
function wordsOf(thrown: unknown): string {
  try {
    // oxlint-disable-next-line typescript/no-base-to-string -- No object gets as far.
    return typeof thrown === 'object' ? JSON.stringify(thrown) : String(thrown)
  } catch {
    return `a value of type ${typeof thrown}`
  }
}

const bugNames: ReadonlySet<string> = new Set(['TypeError', 'ReferenceError', 'RangeError', 'SyntaxError', 'EvalError'])

/**
 * Returns true if a value that a tool threw is more likely a bug than an answer for the model: it is not an Error, or it is one that JavaScript
 * throws by itself. An error with a code or a cause comes from a function that the tool called, such as `fetch` or `new URL`, and is not a bug.
 * Neither is an error of `JSON.parse`, whose text came from elsewhere.
 */
export function isLikelyBug(thrown: unknown): boolean {
  if (!(thrown instanceof Error)) return true
  if ('code' in thrown || thrown.cause !== undefined || !bugNames.has(thrown.name)) return false
  return !(thrown.name === 'SyntaxError' && /JSON/.test(thrown.message))
}

/** Options of a report: a logger that is told in addition to the process, with fields for its lines. */
interface Telling {
  readonly logger?: Logger | undefined
  /** Fields for the lines of the logger. */
  readonly fields?: object
  /** Removes secrets from a text. */
  readonly clean?: ((text: string) => string) | undefined
}

/**
 * Bugs in application functions that the runtime calls, such as listeners, hooks and tools. Each is reported once to the people who run the process,
 * with its place and stack, and to no model, log or client.
 */
export class CallbackBugs {
  readonly #told = new Map<string, Set<string>>()

  /** Reports a bug. `place` names the function, such as `beforeTool of agent "a"`. */
  tell(place: string, thrown: unknown, { logger, fields = {}, clean = (text) => text }: Telling = {}): void {
    const messages = this.#told.get(place) ?? new Set<string>()
    const message = thrown instanceof Error ? `${thrown.name}: ${thrown.message}` : wordsOf(thrown)
    if (messages.has(message) || messages.size > mostMessages) return
    messages.add(message)
    this.#told.set(place, messages)
    if (this.#told.size > mostPlaces) this.#told.delete(this.#told.keys().next().value!)
    const last = messages.size > mostMessages ? '\nFurther failures of it are not told.' : ''
    const text = `${place} failed: ${clean(stackOf(thrown))}${last}`
    warnProcess(text)
    try {
      logger?.error({ ...fields, place }, text)
    } catch {
      // The process has been told.
    }
  }
}

/** Bugs in functions that belong to no runtime. */
export const callbackBugs = new CallbackBugs()

/** Calls a listener of the application. If it throws or rejects, the error is reported and has no other effect. */
export function callListener<T>(place: string, listener: (value: T) => unknown, value: T): void {
  const failed = (thrown: unknown): void => callbackBugs.tell(place, thrown)
  try {
    const returned = listener(value)
    if (returned instanceof Promise) returned.catch(failed)
  } catch (thrown) {
    failed(thrown)
  }
}

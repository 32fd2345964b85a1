import { isDeepStrictEqual } from 'node:util'
import * as uvu from 'uvu/assert'
import { differenceText, valueText } from './differenceText.ts'

/** A pattern the message must match, an error class, or a predicate. */
export type Expected = RegExp | (abstract new (...rest: never[]) => Error) | ((thrown: unknown) => boolean)

type Message = string | Error

/** uvu's assertions with a bounded diff, `rejects`, and `throws` that takes any thrown value. */
export interface Assert {
  ok(actual: unknown, message?: Message): asserts actual
  unreachable(message?: Message): never
  /** `===`. */
  readonly is: ((actual: unknown, expected: unknown, message?: Message) => void) & {
    not(actual: unknown, expected: unknown, message?: Message): void
  }
  /** Deeply and strictly equal: same constructors, same keys (one that is `undefined` counts), same messages of errors. */
  equal(actual: unknown, expected: unknown, message?: Message): void
  type(actual: unknown, expected: Parameters<typeof uvu.type>[1], message?: Message): void
  instance(actual: unknown, expected: abstract new (...rest: never[]) => unknown, message?: Message): void
  match(actual: string, expected: string | RegExp, message?: Message): void
  /** `body` is synchronous. Returns what it threw. */
  throws(body: () => unknown, expected?: Expected, message?: Message): unknown
  /** Takes a promise, or a function that returns one. Resolves to what was thrown. */
  rejects(work: PromiseLike<unknown> | (() => unknown), expected?: Expected, message?: Message): Promise<unknown>
  readonly not: ((actual: unknown, message?: Message) => void) & {
    ok(actual: unknown, message?: Message): void
    equal(actual: unknown, expected: unknown, message?: Message): void
    type(actual: unknown, expected: Parameters<typeof uvu.type>[1], message?: Message): void
    instance(actual: unknown, expected: abstract new (...rest: never[]) => unknown, message?: Message): void
    match(actual: string, expected: string | RegExp, message?: Message): void
    throws(body: () => unknown, message?: Message): void
  }
}

function failed(operator: string, what: string, message: Message | undefined, details?: string): never {
  if (message instanceof Error) throw message
  const options = {
    operator,
    message: message ?? what,
    generated: message === undefined,
    expects: undefined,
    actual: undefined,
  }
  throw new uvu.Assertion(details === undefined ? options : { ...options, details })
}

// uvu computes its diff before it throws, whatever the size; it has none when the message is an error, so we give it one.
const mismatch = new Error('mismatch')

function holds(check: (marker: Error) => void): boolean {
  try {
    check(mismatch)
    return true
  } catch (thrown) {
    if (thrown === mismatch) return false
    throw thrown
  }
}

// uvu's equality sees no difference between two errors with other messages, nor between 0 and -0; Node's does.
const deeplyEqual = (a: unknown, b: unknown): boolean =>
  holds((marker) => uvu.equal(a, b, marker)) && isDeepStrictEqual(a, b)

function checkThrown(
  operator: string,
  thrown: unknown,
  expected: Expected | undefined,
  message: Message | undefined,
): unknown {
  if (expected === undefined) return thrown
  const saw = `but it threw ${valueText(thrown)}`
  if (expected instanceof RegExp) {
    const text = thrown instanceof Error ? thrown.message : String(thrown)
    if (text.search(expected) === -1)
      failed(operator, `Expected a message that matches ${String(expected)}, ${saw}`, message)
  } else if (isErrorClass(expected)) {
    if (!(thrown instanceof expected)) failed(operator, `Expected a ${expected.name}, ${saw}`, message)
  } else if (!expected(thrown))
    failed(operator, `Expected a thrown value that satisfies the predicate, ${saw}`, message)
  return thrown
}

const isErrorClass = (value: Expected): value is abstract new (...rest: never[]) => Error =>
  value === Error || (value as { prototype?: unknown }).prototype instanceof Error

function throws(body: () => unknown, expected?: Expected, message?: Message): unknown {
  let returned: unknown
  try {
    returned = body()
  } catch (thrown) {
    if (thrown instanceof uvu.Assertion) throw thrown
    return checkThrown('throws', thrown, expected, message)
  }
  return failed('throws', `Expected the function to throw, but it returned ${valueText(returned)}`, message)
}

async function rejects(
  work: PromiseLike<unknown> | (() => unknown),
  expected?: Expected,
  message?: Message,
): Promise<unknown> {
  let resolved: unknown
  try {
    resolved = await (typeof work === 'function' ? work() : work)
  } catch (thrown) {
    if (thrown instanceof uvu.Assertion) throw thrown
    return checkThrown('rejects', thrown, expected, message)
  }
  return failed('rejects', `Expected a rejection, but it resolved to ${valueText(resolved)}`, message)
}

const is = (actual: unknown, expected: unknown, message?: Message): void => {
  if (!holds((marker) => uvu.is(actual, expected, marker))) {
    failed('is', 'Expected values to be strictly equal:', message, differenceText(actual, expected))
  }
}

const match = (actual: string, expected: string | RegExp, message?: Message): void => {
  if (typeof actual !== 'string' || !holds((marker) => uvu.match(actual, expected, marker))) {
    failed('match', `Expected ${valueText(actual)} to match ${valueText(expected)}`, message)
  }
}

export const assert: Assert = {
  ok: uvu.ok,
  unreachable: (message) => failed('unreachable', 'Expected not to be reached!', message),
  is: Object.assign(is, { not: uvu.is.not }),
  equal: (actual, expected, message) => {
    if (!deeplyEqual(actual, expected)) {
      failed('equal', 'Expected values to be deeply equal:', message, differenceText(actual, expected))
    }
  },
  type: uvu.type,
  instance: (actual, expected, message) => uvu.instance(actual, expected, message),
  match,
  throws,
  rejects,
  not: Object.assign((actual: unknown, message?: Message) => uvu.not(actual, message), {
    ok: uvu.not.ok,
    equal: (actual: unknown, expected: unknown, message?: Message) => {
      if (deeplyEqual(actual, expected)) failed('not.equal', 'Expected values not to be deeply equal', message)
    },
    type: uvu.not.type,
    instance: (actual: unknown, expected: abstract new (...rest: never[]) => unknown, message?: Message) =>
      uvu.not.instance(actual, expected, message),
    match: uvu.not.match,
    throws: (body: () => unknown, message?: Message) => {
      try {
        body()
      } catch (thrown) {
        failed('not.throws', `Expected the function not to throw, but it threw ${valueText(thrown)}`, message)
      }
    },
  }),
}

/**
 * Text of a function that prepares what a script finds, and returns what is used of its results. What it needs later it takes before the script
 * has run: a script that changes `JSON` or `Promise` deceives itself and no one else.
 */
export const prelude = `(call, say, names, mostChars) => {
  'use strict'
  const { parse, stringify } = JSON
  const { freeze, defineProperty } = Object
  const [SafePromise, SafeError, SafeString, SafeMap, SafeSet, SafeProxy] = [Promise, Error, String, Map, Set, Proxy]
  const { from } = Array

  class ToolError extends SafeError {
    constructor(message, code, stack) {
      super(message)
      this.name = 'ToolError'
      if (code !== undefined) this.code = code
      if (stack !== undefined) defineProperty(this, 'stack', { value: stack, configurable: true, writable: true })
    }
  }
  freeze(ToolError.prototype)
  freeze(ToolError)

  const sent = (input) => {
    const text = input === undefined ? '{}' : stringify(input)
    if (text === undefined) throw new ToolError('The arguments are not JSON.', 'INVALID_INPUT')
    if (text.length > mostChars)
      throw new ToolError('The arguments have ' + text.length + ' characters, more than ' + mostChars + '.', 'TOO_LARGE')
    return text
  }
  const caller = (name) =>
    freeze(
      (input) =>
        new SafePromise((resolve, reject) => {
          const { stack } = new SafeError()
          const settle = (isDone, text, code) => (isDone ? resolve(parse(text)) : reject(new ToolError(text, code, stack)))
          call(name, sent(input), settle)
        }),
    )
  const known = { __proto__: null }
  const list = parse(names)
  for (let at = 0; at < list.length; at++) known[list[at]] = caller(list[at])
  const find = caller('$find')
  known.$find = freeze((query) => find({ query }))
  known.$call = freeze((name, input) => caller(SafeString(name))(input))
  freeze(known)
  // A name that there is not is a call too: its error names the nearest.
  const isName = (key) => typeof key === 'string' && key !== 'then' && key !== 'toJSON'
  const get = (target, key) => (key in target ? target[key] : isName(key) ? caller(key) : undefined)
  const tools = new SafeProxy(known, freeze({ __proto__: null, get }))

  const plain = (key, value) => {
    if (typeof value === 'bigint') return value + 'n'
    if (value instanceof SafeMap || value instanceof SafeSet) return from(value)
    if (value instanceof SafeError) return value.name + ': ' + value.message
    if (value instanceof SafePromise) return '[a promise that was not awaited]'
    return value
  }
  const shown = (value) => {
    if (typeof value === 'string') return value
    try {
      return stringify(value, plain) ?? SafeString(value)
    } catch {
      return SafeString(value)
    }
  }
  const log = (...all) => {
    let line = ''
    for (let at = 0; at < all.length; at++) line += (at === 0 ? '' : ' ') + shown(all[at])
    say(line)
  }
  const define = (name, value) => defineProperty(globalThis, name, { value })
  const SafeDate = Date
  const snooze = caller('$sleep')
  const sleep = (time) =>
    snooze(typeof time === 'number' ? { ms: time } : { until: time instanceof SafeDate ? time.toJSON() : time })
  define('tools', tools)
  define('sleep', freeze(sleep))
  define('ToolError', ToolError)
  define('console', freeze({ log, info: log, warn: log, error: log, debug: log }))
  delete globalThis.SharedArrayBuffer

  const textOf = (value) => (typeof value === 'string' ? value : '')
  const problem = (thrown) => {
    try {
      if (typeof thrown !== 'object' || thrown === null) return stringify({ message: SafeString(thrown) })
      const { name, message, code, stack, errors } = thrown
      const cause = typeof errors === 'object' && errors !== null ? errors[0] : undefined
      const said = textOf(message) || (cause === undefined ? '' : textOf(cause.message))
      return stringify({ name: textOf(name), message: said || (textOf(name) ? '' : shown(thrown)), code: textOf(code), stack: textOf(stack) })
    } catch {
      return '{}'
    }
  }
  return { written: (value) => stringify(value, plain), problem }
}`

import * as nodeModule from 'node:module'
import { messageOf } from '../../../src/protocol/errors.ts'

type Stripped =
  | { readonly ok: true; readonly text: string }
  | { readonly ok: false; readonly message: string; readonly line?: number; readonly column?: number }

/**
 * Takes the types away, and leaves everything else in its place. Returns `undefined` if this Node cannot. Never throws. The first time takes
 * a moment.
 */
export function withoutTypes(text: string): Stripped | undefined {
  const { stripTypeScriptTypes } = nodeModule
  if (typeof stripTypeScriptTypes !== 'function') return undefined
  try {
    return { ok: true, text: stripTypeScriptTypes(text) }
  } catch (thrown) {
    return { ok: false, message: wrongWith(messageOf(thrown)), ...placeIn(thrown) }
  }
}

/** Node names what it cannot take away by the mode that it was called in. */
const wrongWith = (message: string): string =>
  message.replace(/ is not supported in strip-only mode\.?$/, ' is not supported: only types can be taken away')

/** Node writes the place in front of the stack: `:3`, the line, and a mark below it. */
function placeIn(thrown: unknown): { readonly line?: number; readonly column?: number } {
  const [head = '', ...lines] = (thrown instanceof Error ? (thrown.stack ?? '') : '').split('\n')
  const line = /^:(\d+)$/.exec(head)?.[1]
  if (line === undefined) return {}
  const mark = lines.slice(0, 4).find((one) => /^\s*\^+\s*$/.test(one))
  return { line: Number(line), ...(mark === undefined ? {} : { column: mark.indexOf('^') + 1 }) }
}

import type { AgentEvent } from '../events.ts'
import { readPartialJson } from './partialJson.ts'
import type { RunResult } from './runResult.ts'

/** An incomplete answer. */
export type PartialOutput<T> = T extends readonly (infer Item)[]
  ? readonly PartialOutput<Item>[]
  : T extends object
    ? { readonly [K in keyof T]?: PartialOutput<T[K]> }
    : T

/** Start of the JSON: at once, or in a fenced block. */
const openings = [/^\s*(?=["{[])/, /^[ \t]*```(?:json)?[ \t]*\r?\n/im] as const

/**
 * Returns the value so far of an answer that is still being written: the JSON at the beginning of the text, or in its fenced block. Strings grow.
 * Numbers, words and members appear once complete. Returns `undefined` if there is no value yet. Does not check a schema. Pure.
 *
 * @example
 * ```ts
 * import { partialOutput } from 'escapement/client'
 *
 * partialOutput('{"city":"Pa') // { city: 'Pa' }
 * ```
 */
export function partialOutput(text: string): unknown {
  for (const opening of openings) {
    const found = opening.exec(text)
    if (found !== null) return readPartialJson(text.slice(found.index + found[0].length))
  }
  return undefined
}

/** Divisor of a text's length. The text is read again once it has grown by that fraction, so the work stays linear. */
const growth = 32

/** Yields a run's growing answer from its events, and at the end the whole output, if there is one. A repeated reply starts over. */
export async function* partialOutputs(
  events: AsyncIterable<AgentEvent>,
  result: Promise<RunResult>,
): AsyncGenerator<unknown, void, undefined> {
  let text = ''
  let read = 0
  for await (const event of events) {
    if (event.type === 'reply.delta') {
      if (event.offset === 0) read = 0
      text = text.slice(0, event.offset) + event.text
      if (text.length < read + Math.max(1, read / growth)) continue
      read = text.length
      const part = partialOutput(text)
      if (part !== undefined) yield part
    }
  }
  const ended = await result
  if (ended.stopReason === 'stop' && 'output' in ended) yield ended.output
}

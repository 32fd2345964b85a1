import type { AgentEvent } from '../events.ts'
import { readPartialJson } from './partialJson.ts'
import type { RunResult } from './runResult.ts'

/** An answer of which some is missing still. */
export type PartialOutput<T> = T extends readonly (infer Item)[]
  ? readonly PartialOutput<Item>[]
  : T extends object
    ? { readonly [K in keyof T]?: PartialOutput<T[K]> }
    : T

/** Where the JSON begins: at once, or in a fenced block. */
const openings = [/^\s*(?=["{[])/, /^[ \t]*```(?:json)?[ \t]*\r?\n/im] as const

/**
 * Returns the part that is there of an answer that is still being written: the JSON at the beginning of the text, or in its fenced block,
 * as far as it has come. Strings grow; a number, a word or a member appears once it is whole. `undefined`: nothing of it is there yet. It
 * is not checked against a schema. Pure.
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

/** Divisor of a text's length: once it has grown by that much it is read again, so the work stays linear. */
const growth = 32

/**
 * The answer of a run as it grows, from its events; at the end the whole output, if the run has one. A reply that is asked for again
 * begins anew.
 */
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

import { callToolName } from '../../../protocol/viaCallTool.ts'
import type { AgentDefinition } from '../../define/agentDefinition.ts'
import { isDeferred } from './deferral.ts'

interface Delta {
  readonly type: 'toolCall.delta'
  readonly callId: string
  /** Name of the tool; given with the first part at least. */
  readonly name?: string
  readonly text: string
}

/** The part of a call that has arrived: its beginning until the tool is known, then the depth of the text within the arguments. */
interface Progress {
  head: string
  name: string | undefined
  depth: number
  isQuoted: boolean
  isEscaped: boolean
  isOver: boolean
}

const head = /^\s*\{\s*"name"\s*:\s*"([A-Za-z0-9_-]{1,64})"\s*,\s*"input"\s*:\s*(?=\{)/
const longestHead = 300

/**
 * Passes on the parts of calls as they are written. Parts of a `call_tool` call become parts of the tool that it names, with its arguments
 * alone. Nothing is passed on until the tool is known, and nothing at all for a call in another form, which appears once it is whole.
 */
export class InnerDeltas {
  readonly #definition: Pick<AgentDefinition, 'tools' | 'agents' | 'deferred'>
  readonly #calls = new Map<string, Progress>()

  constructor(definition: Pick<AgentDefinition, 'tools' | 'agents' | 'deferred'>) {
    this.#definition = definition
  }

  /** Returns the part to pass on; `undefined` if there is none. */
  next(delta: Delta): Delta | undefined {
    if (this.#definition.deferred === null) return delta
    const call = this.#calls.get(delta.callId) ?? (delta.name === callToolName ? fresh() : undefined)
    if (call === undefined) return delta
    this.#calls.set(delta.callId, call)
    if (call.isOver) return undefined
    if (call.name !== undefined) return this.#inner(delta, call, delta.text)
    call.head += delta.text
    const match = head.exec(call.head)
    if (match === null) {
      call.isOver = call.head.length > longestHead
      return undefined
    }
    const [whole, name = ''] = match
    call.isOver = !isDeferred(this.#definition, name)
    if (call.isOver) return undefined
    call.name = name
    return this.#inner(delta, call, call.head.slice(whole.length))
  }

  #inner({ type, callId }: Delta, call: Progress, text: string): Delta {
    return { type, callId, name: call.name!, text: text.slice(0, endOf(call, text)) }
  }
}

const fresh = (): Progress => ({
  head: '',
  name: undefined,
  depth: 0,
  isQuoted: false,
  isEscaped: false,
  isOver: false,
})

function endOf(call: Progress, text: string): number {
  for (let at = 0; at < text.length; at++) {
    const sign = text[at]!
    if (call.isEscaped) call.isEscaped = false
    else if (call.isQuoted) {
      call.isEscaped = sign === '\\'
      call.isQuoted = sign !== '"'
    } else if (sign === '"') call.isQuoted = true
    else if (sign === '{' || sign === '[') call.depth += 1
    else if (sign === '}' || sign === ']') call.depth -= 1
    if (call.depth === 0) {
      call.isOver = true
      return at + 1
    }
  }
  return text.length
}

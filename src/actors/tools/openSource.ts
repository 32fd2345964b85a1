import { callbackBugs, isLikelyBug } from '../../protocol/callbackBugs.ts'
import { cutEnd, oneLine } from '../../protocol/text/cutMiddle.ts'
import { messageOf } from '../../protocol/errors.ts'
import { lazily } from '../../protocol/lazily.ts'
import { type OfferedToolSpec, offeredToolSchema, sourceStateSchema } from '../../protocol/toolsChange.ts'
import type { Cancellation } from '../timing/cancellation.ts'
import { TimeLimit } from '../timing/timeLimit.ts'
import { alwaysAsks, type AnyTool, neverAsks } from './defineTool.ts'
import type { SourceHost, SourceStatus, ToolConnection, ToolSource } from './toolSource.ts'

/** Tools and instructions of a source in the form of a record. */
export interface Listing {
  /** Tools by their own names, by which they are offered here. */
  readonly tools: ReadonlyMap<string, ListedTool>
  /** Instructions of the source; `undefined` if they cannot be used, so the last ones stay. */
  readonly instructions: string | undefined
  readonly trouble: string | undefined
  readonly state: SourceStatus['state']
  /** True if the tools are the source's current ones; otherwise they are the last ones, if any. */
  readonly isUp: boolean
}

interface ListedTool {
  readonly tool: AnyTool
  readonly offer: OfferedToolSpec
  readonly same: string
}

/** Time that a turn waits for a source, and time for which later turns do not wait again, in milliseconds. */
const readyMs = 15_000
const patienceMs = 60_000
/** Limits on what one source may add to every request. */
const mostTools = 1_000
const mostChars = 1_000_000
const mostInstructions = 200_000
const mostTrouble = 500
/** Maximum number of entries of its list that are read. */
const mostEntries = 10 * mostTools

const noTools: ReadonlyMap<string, ListedTool> = new Map()

/** The connection of one source in one runtime. Faults of the source are reported as its trouble; nothing here throws. */
export class OpenSource {
  readonly source: ToolSource
  readonly #host: SourceHost
  #connection: ToolConnection | undefined
  /** Error that the source threw or rejected with, or the deadline that it missed. */
  #fault: string | undefined
  #isClosed = false
  /** Time until which no turn waits for the source. */
  #lateUntil = 0
  #read: { readonly of: readonly unknown[]; readonly tools: Listing['tools']; readonly leftOut: string } | undefined

  constructor(source: ToolSource, host: SourceHost) {
    this.source = source
    this.#host = host
  }

  /** Opens the source if need be. Resolves once it knows its tools, has given up or takes too long. Rejects when cancelled. */
  async ready(cancellation: Cancellation): Promise<void> {
    const connection = this.#opened()
    const { clock } = this.#host
    if (connection === undefined || clock.now() < this.#lateUntil) return
    const limit = new TimeLimit(clock, readyMs, cancellation)
    try {
      await limit.race(async () => connection.ready(limit.cancellation.signal))
      this.#fault = undefined
    } catch (thrown) {
      cancellation.throwIfAborted()
      if (limit.isOver) this.#lateUntil = clock.now() + patienceMs
      this.#told(thrown)
      this.#fault = limit.isOver ? `it did not say within ${readyMs} ms what it has` : messageOf(thrown)
    } finally {
      limit.end()
    }
  }

  #opened(): ToolConnection | undefined {
    if (this.#connection !== undefined || this.#isClosed) return this.#connection
    try {
      this.#connection = checkedConnection(this.source.open(this.#host))
      this.#fault = undefined
    } catch (thrown) {
      this.#told(thrown)
      this.#fault = messageOf(thrown)
    }
    return this.#connection
  }

  /** Returns the tools and instructions of the source, as far as it is open. */
  listing(): Listing {
    const connection = this.#connection
    try {
      const { state, trouble } = this.#status()
      if (connection === undefined) return this.#nothing(state, trouble)
      const { tools, leftOut } = this.#listed(connection.tools)
      const { instructions, refused } = this.#instructionsOf(connection)
      const own = textOr(connection.trouble, 'its trouble is no text')
      const wrong = [...new Set([this.#fault, own, trouble, refused, leftOut || undefined])]
      const said = wrong.filter((text) => text !== undefined).join('; ')
      const about = { tools, instructions, trouble: said === '' ? undefined : this.#said(said) }
      return { ...about, state, isUp: state === 'up' }
    } catch (thrown) {
      this.#told(thrown)
      return this.#nothing('failed', messageOf(thrown))
    }
  }

  #told(thrown: unknown): void {
    const { logger, redactor } = this.#host
    const clean = (text: string): string => redactor?.text(text) ?? text
    if (isLikelyBug(thrown)) callbackBugs.tell(`The source of tools "${this.source.source}"`, thrown, { logger, clean })
  }

  #nothing(state: SourceStatus['state'], trouble: string | undefined): Listing {
    return { tools: noTools, instructions: '', trouble: this.#said(trouble), state, isUp: false }
  }

  /** Returns the tool of the source, if it is identical to the offered one. */
  find(offer: OfferedToolSpec): AnyTool | undefined {
    const listed = this.listing().tools.get(offer.ownName ?? offer.name)
    return listed?.same === sameness(offer) ? listed.tool : undefined
  }

  #status(): Pick<SourceStatus, 'state' | 'trouble'> {
    const trouble = this.#fault
    if (this.#isClosed) return { state: 'closed' }
    if (this.#connection === undefined) return trouble === undefined ? { state: 'idle' } : { state: 'failed', trouble }
    const status = checkedStatus(this.#connection.status())
    return trouble === undefined || status.state !== 'up' ? status : { state: 'failed', trouble }
  }

  #instructionsOf(connection: ToolConnection): { instructions: string | undefined; refused?: string } {
    const given: unknown = connection.instructions ?? ''
    if (typeof given !== 'string') return { instructions: undefined, refused: `its instructions are no text` }
    if (given.length > mostInstructions)
      return {
        instructions: undefined,
        refused: `its instructions have ${given.length} characters, more than ${mostInstructions}`,
      }
    return { instructions: this.#clean(given.trim()) }
  }

  /** Closes the connection, which never opens again. Rejects as the connection does. */
  async close(): Promise<void> {
    if (this.#isClosed) return
    this.#isClosed = true
    await this.#connection?.close()
  }

  /** Returns the listed tools. They are made again when the tools change, or the secrets to be blanked in them. */
  #listed(tools: readonly AnyTool[]): { readonly tools: Listing['tools']; readonly leftOut: string } {
    const { redactor } = this.#host
    const of = [tools, redactor, redactor?.secrets]
    if (this.#read === undefined || this.#read.of.some((part, index) => part !== of[index]))
      this.#read = { of, ...this.#readTools(tools) }
    return this.#read
  }

  #readTools(given: readonly AnyTool[]): { readonly tools: Listing['tools']; readonly leftOut: string } {
    const tools = new Map<string, ListedTool>()
    const leftOut: string[] = []
    let chars = 0
    if (!Array.isArray(given)) throw new Error('its tools are no list')
    for (const tool of given.slice(0, mostEntries) as readonly AnyTool[]) {
      try {
        const offer = this.#offerOf(tool)
        const same = sameness(offer)
        if (tools.has(offer.name)) throw new Error('there is another of that name')
        if (tools.size === mostTools) throw new Error(`there are more than ${mostTools}`)
        if (chars + same.length > mostChars) throw new Error(`together they have more than ${mostChars} characters`)
        chars += same.length
        tools.set(offer.name, { tool, offer, same })
      } catch (thrown) {
        leftOut.push(`${nameOf(tool)}: ${messageOf(thrown)}`)
      }
    }
    const first = leftOut.slice(0, 3).join('; ')
    const more = leftOut.length + Math.max(0, given.length - mostEntries) - 3
    const rest = more > 0 ? `; and ${more} more` : ''
    return { tools, leftOut: leftOut.length === 0 ? '' : `left out: ${first}${rest}` }
  }

  /** Returns the spec of a tool in its logged form. Throws an error that names its fault. */
  #offerOf(tool: AnyTool): OfferedToolSpec {
    const { name, description, inputSchema, spec, effects, polls, needsApproval } = tool
    if (!/^[A-Za-z0-9_-]{1,64}$/.test(name)) throw new Error('its name is not 1 to 64 letters, digits, "_" or "-"')
    if (tool.external === true) throw new Error('a client would have to carry it out')
    if (effects === 'reversible' && typeof tool.undo !== 'function') throw new Error('it has no undo')
    if (inputSchema['type'] !== 'object') throw new Error('its input is not an object')
    const approval = needsApproval === neverAsks ? 'never' : needsApproval === alwaysAsks ? 'always' : 'maybe'
    const said = { name, description, inputSchema, spec, effects, approval, ...(polls ? { polls } : {}) }
    const text = JSON.stringify({ ...said, source: this.source.source })
    if (text.length > mostChars) throw new Error(`it has more than ${mostChars} characters`)
    const offer = this.#clean(JSON.parse(text) as unknown)
    const { success, data } = offeredToolSchema().safeParse(offer)
    if (!success) throw new Error('it is not a tool')
    if (data.name !== name) throw new Error('its name holds a secret')
    return data
  }

  #clean<T>(value: T): T {
    return this.#host.redactor?.value(value) ?? value
  }

  #said(text: string | undefined): string | undefined {
    if (text === undefined) return undefined
    // No longer a text is read for what is told in a line.
    const part = text.slice(0, 8 * mostTrouble)
    return oneLine(this.#host.redactor?.cutOff(part) ?? part, mostTrouble)
  }
}

/** Checks the value that a source returned when it was opened. Throws an error that names its fault. */
function checkedConnection(given: unknown): ToolConnection {
  const { then, ready, status, close } = (given ?? {}) as Partial<ToolConnection> & { readonly then?: unknown }
  if (typeof then === 'function')
    throw new Error('its open gave a promise: it must give a connection, and wait in ready')
  if ([ready, status, close].some((method) => typeof method !== 'function'))
    throw new Error('its open gave no connection, with ready, status and close')
  return given as ToolConnection
}

const states = lazily((): ReadonlySet<unknown> => new Set(sourceStateSchema().options))

/** Checks the status of a source. Throws an error that names its fault. */
function checkedStatus(given: unknown): Pick<SourceStatus, 'state' | 'trouble'> {
  const { state, trouble } = (given ?? {}) as Partial<SourceStatus>
  if (!states().has(state)) throw new Error(`its state is none of ${[...states()].join(', ')}`)
  const text = textOr(trouble, 'its trouble is no text')
  return { state: state!, ...(text === undefined ? {} : { trouble: text }) }
}

const textOr = (given: unknown, otherwise: string): string | undefined =>
  given === undefined || typeof given === 'string' ? given : otherwise

/** Returns everything about a tool except the name by which it is offered. */
function sameness({ description, inputSchema, spec, effects, approval, polls, source }: OfferedToolSpec): string {
  return JSON.stringify([description, inputSchema, spec ?? null, effects, approval, polls ?? false, source])
}

/** Returns the name of a tool for people. The value may be anything. */
const nameOf = (tool: unknown): string => {
  try {
    return cutEnd(String((tool as { readonly name?: unknown } | null)?.name), 80)
  } catch {
    return 'a tool'
  }
}

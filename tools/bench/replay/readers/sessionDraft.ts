import type { Block, PlainBlock, ToolCallBlock, ToolSpec } from '../../../../src/index.ts'
import { type RecordedResult, type RecordedSession, type RecordedTurn, ReplayError } from '../recordedSession.ts'

interface OpenStep {
  readonly content: Block[]
  readonly results: Map<string, RecordedResult>
  readonly at: number | undefined
}

type DraftTurn = { readonly user: PlainBlock[] } | OpenStep

const lost: RecordedResult = { content: [{ type: 'text', text: '(the recording has no result)' }], isError: true }
const isSaid = (block: Block): boolean =>
  block.type === 'text' || block.type === 'thinking' ? block.text.trim() !== '' : true

/** Collects a recording message by message, as a reader comes to them, and mends what could not be replayed. */
export class SessionDraft {
  readonly #format: string
  readonly #turns: DraftTurn[] = []
  readonly #tools = new Map<string, ToolSpec>()
  /** Steps by the ids of their calls, as recorded and as made unique: an id may be used again. */
  readonly #calls = new Map<string, { readonly step: OpenStep; readonly callId: string }>()
  readonly #callIds = new Set<string>()
  readonly #notes = new Map<string, number>()
  #system = ''
  #firstInput: number | undefined
  #mostInput = Infinity
  #time: number | undefined
  /** When the last message came that the model had to answer. */
  #asked: number | undefined

  constructor(format: string) {
    this.#format = format
  }

  /** Counts something that people should know of. */
  note(what: string): void {
    this.#notes.set(what, (this.#notes.get(what) ?? 0) + 1)
  }

  system(text: string): void {
    this.#system = this.#system === '' ? text : `${this.#system}\n\n${text}`
  }

  tool(spec: ToolSpec): void {
    this.#tools.set(soundName(spec.name), { ...spec, name: soundName(spec.name) })
  }

  /** The time of all that follows, in milliseconds since any moment; lines that are older than one before are taken to be as old. */
  at(time: number): void {
    if (Number.isFinite(time)) this.#time = Math.max(time, this.#time ?? time)
  }

  /** The first request also had history that is not in the recording: at most so many of its tokens are taken for its beginning. */
  isResumed(most: number): void {
    this.note(
      `is resumed, and its history is not in it: at most ${most} tokens are taken for its system prompt and tools`,
    )
    this.#mostInput = most
  }

  user(content: readonly PlainBlock[]): void {
    const said = content.filter(isSaid)
    const last = this.#turns.at(-1)
    if (said.length === 0) return
    this.#asked = this.#time
    if (last !== undefined && 'user' in last) last.user.push(...said)
    else this.#turns.push({ user: [...said] })
  }

  /** A reply, or the next part of one: a reply that made no calls goes on until somebody speaks. `input`: its request's tokens, if they were recorded. */
  reply(content: readonly Block[], input = 0): void {
    const said = content.filter(isSaid)
    if (said.length === 0) return
    if (input > 0 && this.#callIds.size === 0) this.#firstInput ??= Math.min(input, this.#mostInput)
    const last = this.#turns.at(-1)
    const isContinued = last !== undefined && 'results' in last && !last.content.some(isCall)
    if (last === undefined) {
      this.note('begins with a reply: a user message was put before it')
      this.#turns.push({ user: [{ type: 'text', text: '(the recording begins here)' }] })
    }
    const step: OpenStep = isContinued ? last : { content: [], results: new Map(), at: this.#asked ?? this.#time }
    if (!isContinued) this.#turns.push(step)
    for (const block of said) step.content.push(isCall(block) ? this.#call(block, step) : block)
  }

  /** More blocks of the last reply, even if it has made calls already. */
  more(content: readonly Block[]): void {
    const last = this.#turns.findLast((turn) => 'results' in turn)
    if (last === undefined || !('results' in last)) return this.reply(content)
    for (const block of content.filter(isSaid)) last.content.push(isCall(block) ? this.#call(block, last) : block)
  }

  #call(block: ToolCallBlock, step: OpenStep): ToolCallBlock {
    let callId = block.callId
    for (let again = 2; callId === '' || this.#callIds.has(callId); again += 1) callId = `${block.callId}-${again}`
    if (callId !== block.callId) this.note('call ids used before were made unique')
    this.#callIds.add(callId)
    this.#calls.set(block.callId, { step, callId })
    const isObject = typeof block.input === 'object' && block.input !== null && !Array.isArray(block.input)
    return {
      ...block,
      callId,
      name: soundName(block.name),
      input: isObject ? block.input : { value: block.input ?? null },
    }
  }

  result(callId: string, content: readonly PlainBlock[], isError: boolean, changed: readonly string[] = []): void {
    const call = this.#calls.get(callId)
    if (call === undefined || call.step.results.has(call.callId)) return this.note('results of no call were left out')
    this.#asked = this.#time
    const said = content.filter(isSaid)
    const shown: PlainBlock[] = said.length === 0 ? [{ type: 'text', text: '(no output)' }] : said
    call.step.results.set(call.callId, { content: shown, isError, ...(changed.length > 0 ? { changed } : {}) })
  }

  /** @throws ReplayError when there is nothing to replay. */
  finish(name: string): RecordedSession {
    const start = this.#turns.find((turn): turn is OpenStep => 'results' in turn)?.at
    const turns = this.#turns.map((turn): RecordedTurn => {
      if ('user' in turn) return { type: 'user', content: turn.user }
      const results = turn.content.filter(isCall).map(({ callId }) => turn.results.get(callId) ?? this.#missing())
      const at = turn.at === undefined || start === undefined ? {} : { at: turn.at - start }
      return { type: 'step', content: turn.content, results, ...at }
    })
    const replies = turns.filter(({ type }) => type === 'step').length
    if (replies === 0)
      throw new ReplayError(
        `${name} (${this.#format}) has ${turns.length} user messages and no reply: nothing to replay.`,
      )
    const notes = [...this.#notes].map(([what, count]) => (count === 1 ? what : `${what} (${count})`))
    const first = this.#firstInput === undefined ? {} : { firstInput: this.#firstInput }
    return { name, format: this.#format, system: this.#system, tools: this.#allTools(), turns, ...first, notes }
  }

  #missing(): RecordedResult {
    this.note('calls without a result got one that says so')
    return lost
  }

  #allTools(): ToolSpec[] {
    const tools = new Map(this.#tools)
    for (const turn of this.#turns)
      for (const { name } of 'user' in turn ? [] : turn.content.filter(isCall))
        if (!tools.has(name)) tools.set(name, { name, description: stubOf(name), inputSchema: { type: 'object' } })
    return [...tools.values()].toSorted((a, b) => (a.name < b.name ? -1 : 1))
  }
}

/** Description of a tool that a recording only names. */
export const stubOf = (name: string): string => `The recorded tool ${name}.`

const isCall = (block: Block): block is ToolCallBlock => block.type === 'toolCall'

const soundName = (name: string): string => name.replace(/[^A-Za-z0-9_-]/g, '_').slice(0, 64) || 'unknown'

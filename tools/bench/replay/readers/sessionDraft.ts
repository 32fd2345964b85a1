import type { Block, PlainBlock, ToolCallBlock, ToolSpec } from '../../../../src/index.ts'
import { textTokens, tokensOf } from '../measure/tokens.ts'
import { type RecordedResult, type RecordedSession, type RecordedTurn, ReplayError } from '../recordedSession.ts'

interface OpenStep {
  readonly content: Block[]
  readonly results: Map<string, RecordedResult>
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

  user(content: readonly PlainBlock[]): void {
    const said = content.filter(isSaid)
    const last = this.#turns.at(-1)
    if (said.length === 0) return
    if (last !== undefined && 'user' in last) last.user.push(...said)
    else this.#turns.push({ user: [...said] })
  }

  /** A reply, or the next part of one: a reply that made no calls goes on until somebody speaks. `input`: its request's tokens, if they were recorded. */
  reply(content: readonly Block[], input = 0): void {
    const said = content.filter(isSaid)
    if (said.length === 0) return
    if (input > 0 && this.#callIds.size === 0) this.#firstInput ??= input
    const last = this.#turns.at(-1)
    const isContinued = last !== undefined && 'results' in last && !last.content.some(isCall)
    if (last === undefined) {
      this.note('begins with a reply: a user message was put before it')
      this.#turns.push({ user: [{ type: 'text', text: '(the recording begins here)' }] })
    }
    const step: OpenStep = isContinued ? last : { content: [], results: new Map() }
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
    const said = content.filter(isSaid)
    const shown: PlainBlock[] = said.length === 0 ? [{ type: 'text', text: '(no output)' }] : said
    call.step.results.set(call.callId, { content: shown, isError, ...(changed.length > 0 ? { changed } : {}) })
  }

  /** @throws ReplayError when there is nothing to replay. */
  finish(name: string): RecordedSession {
    const turns = this.#turns.map((turn): RecordedTurn => {
      if ('user' in turn) return { type: 'user', content: turn.user }
      const results = turn.content.filter(isCall).map(({ callId }) => turn.results.get(callId) ?? this.#missing())
      return { type: 'step', content: turn.content, results }
    })
    const replies = turns.filter(({ type }) => type === 'step').length
    if (replies === 0)
      throw new ReplayError(
        `${name} (${this.#format}) has ${turns.length} user messages and no reply: nothing to replay.`,
      )
    const tools = this.#allTools()
    const system = this.#system === '' ? this.#standIn(turns, tools) : this.#system
    const notes = [...this.#notes].map(([what, count]) => (count === 1 ? what : `${what} (${count})`))
    return { name, format: this.#format, system, tools, turns, notes }
  }

  #missing(): RecordedResult {
    this.note('calls without a result got one that says so')
    return lost
  }

  #allTools(): ToolSpec[] {
    const tools = new Map(this.#tools)
    for (const turn of this.#turns)
      for (const { name } of 'user' in turn ? [] : turn.content.filter(isCall))
        if (!tools.has(name))
          tools.set(name, { name, description: `The recorded tool ${name}.`, inputSchema: { type: 'object' } })
    return [...tools.values()].toSorted((a, b) => (a.name < b.name ? -1 : 1))
  }

  /** Words without names, as many as the first request had tokens beyond its message: the frame counts in every request. */
  #standIn(turns: readonly RecordedTurn[], tools: readonly ToolSpec[]): string {
    const [first] = turns
    const known = (first?.content ?? []).reduce(
      (sum, block) => sum + tokensOf(block),
      textTokens(JSON.stringify(tools)),
    )
    const missing = Math.round((this.#firstInput ?? 0) - known)
    if (missing < 100) {
      this.note('has no system prompt')
      return ''
    }
    this.note(`has no system prompt: ${missing} tokens stand in, as the usage of its first reply tells`)
    return 'Some words to stand in for it. '.repeat(Math.ceil((missing * 4) / 31)).slice(0, missing * 4)
  }
}

const isCall = (block: Block): block is ToolCallBlock => block.type === 'toolCall'

const soundName = (name: string): string => name.replace(/[^A-Za-z0-9_-]/g, '_').slice(0, 64) || 'unknown'

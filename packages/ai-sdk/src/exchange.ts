import type { ErrorInfo } from '../../../src/protocol/errors.ts'
import type { EventOf } from '../../../src/protocol/events.ts'
import { addUsage, noUsage, type Block, type PlainBlock } from '../../../src/protocol/messages.ts'
import type { RecordOf } from '../../../src/protocol/records.ts'
import type { NodeId } from '../../../src/protocol/ids.ts'
import { saidId } from './ids.ts'
import type { UiStatePart } from './stateParts.ts'
import { outputOf, replyParts, saidParts, type Entry, type Growing } from './uiParts.ts'
import type { UiMessage, UiMessagePart, UiMetadata, UiToolPart } from './uiTypes.ts'

/** A call of the agent or of one below it, shown as a part. */
export interface ShownCall {
  readonly index: number
  readonly toolCallId: string
  readonly agentId: string
  /** Ids of the ancestors of its agent, root first. */
  readonly path: readonly string[]
}

/** A person's prompt with everything that the agent did about it until the next prompt: two messages of a chat. */
export class Exchange {
  /** Id of the request that began it. */
  readonly requestId: string
  /** Id of the agent's message. */
  readonly messageId: string
  /** Messages of the person; more than one if earlier ones had not been taken. */
  readonly said: UiMessage[] = []
  /** Entries of the agent's message. They are replaced rather than mutated, except those still being streamed. */
  readonly entries: Entry[] = []
  /** Parts of the agent's message with its state, beside the entries. Replaced, never mutated. */
  stateParts: readonly UiStatePart[] = []
  metadata: UiMetadata | undefined
  /** End of the exchange's last run. `undefined` while the run is under way. */
  end: RecordOf<'run.end'> | undefined
  /** Number of messages still expected before the first turn. */
  toCome: number
  /** Node of the prompt, the last of the person's messages. Its message id is that of the request. */
  promptNode: NodeId | undefined
  readonly #agentId: string
  readonly #calls = new Map<string, ShownCall>()
  readonly #approvals = new Map<string, ShownCall>()
  /** Index of the entry at which the current reply begins; `undefined` if there is none. */
  #replyAt: number | undefined
  /** True if earlier pieces of the current reply are missing, so that later ones are useless. */
  #isTorn = false
  #texts = { text: 0, reasoning: 0 }
  /** Origin of the calls in the last step. */
  #step: 'none' | 'own' | 'others' = 'none'

  constructor(agentId: string, requestId: string, toCome: number) {
    this.#agentId = agentId
    this.requestId = requestId
    this.messageId = `${agentId}/${requestId}`
    this.toCome = toCome
  }

  /** The agent's message without what is still growing; with `growing`, with the texts of it, and without the state. */
  message(growing = false): UiMessage {
    const parts = this.entries.flatMap((entry, index): UiMessagePart[] => {
      if (entry.type !== 'growing') return [entry]
      if (!growing || entry.of === 'call') return []
      const text = entry.pieces.join('')
      return [entry.of === 'text' ? { type: 'text', text } : { type: 'reasoning', id: `r${index}`, text }]
    })
    return {
      id: this.messageId,
      role: 'assistant',
      ...(this.metadata === undefined ? {} : { metadata: this.metadata }),
      parts: growing ? parts : [...this.stateParts, ...parts],
    }
  }

  addSaid(id: string, content: readonly PlainBlock[]): void {
    this.said.push({ id, role: 'user', parts: saidParts(content) })
  }

  add(part: UiMessagePart): void {
    this.dropReply()
    this.entries.push(part)
  }

  /** Replaces the message at a node with a line, if the exchange contains that message. */
  withhold(nodeId: NodeId, line: string): void {
    const id = nodeId === this.promptNode ? this.said.at(-1)?.id : saidId(this.#agentId, nodeId)
    const parts = saidParts([{ type: 'text', text: line }])
    const at = this.said.findIndex((message) => message.id === id)
    if (at !== -1) this.said[at] = { ...this.said[at]!, parts }
    const index = this.entries.findIndex((entry) => 'id' in entry && entry.id === id)
    const entry = this.entries[index]
    if (entry?.type === 'steering-message') this.entries[index] = { ...entry, parts }
    // An answer of a sub-agent that worked on its own.
    else if (entry?.type === 'data-report')
      this.entries[index] = { ...entry, data: { ...Object(entry.data), text: line } }
  }

  /** Adds a data part, or replaces the one with the same id. */
  setData(part: Extract<UiMessagePart, { type: `data-${string}` }>): void {
    const index = this.entries.findIndex((entry) => entry.type === part.type && 'id' in entry && entry.id === part.id)
    if (index === -1) this.add(part)
    else this.entries[index] = part
  }

  beginStep(of: 'own' | 'others'): void {
    this.add({ type: 'step-start' })
    this.#step = of
  }

  /** Begins a reply, or restarts it. `torn`: its earlier pieces are not known. */
  beginReply(torn = false): void {
    this.dropReply()
    this.#replyAt = this.entries.length
    this.#isTorn = torn
    this.#texts = { text: 0, reasoning: 0 }
  }

  /** Discards the entries of the current reply. */
  dropReply(): void {
    if (this.#replyAt !== undefined) this.entries.length = this.#replyAt
    this.#replyAt = undefined
  }

  grow(of: 'text' | 'reasoning', piece: string, offset: number): void {
    if (this.#replyAt === undefined) this.beginReply(offset > 0)
    if (offset !== this.#texts[of]) this.#tear()
    if (this.#isTorn || piece === '') return
    this.#texts[of] += piece.length
    const last = this.entries.at(-1)
    if (last?.type === 'growing' && last.of === of) last.pieces.push(piece)
    else this.entries.push({ type: 'growing', of, pieces: [piece] })
  }

  growCall({ callId, name, text }: EventOf<'toolCall.delta'>): void {
    if (this.#replyAt === undefined || this.#isTorn) return
    const toolCallId = this.#toolCallIdOf(this.#agentId, callId)
    const known = this.entries.findLast(
      (entry): entry is Growing => entry.type === 'growing' && entry.toolCallId === toolCallId,
    )
    if (known !== undefined) known.pieces.push(text)
    else if (name !== undefined)
      this.entries.push({ type: 'growing', of: 'call', pieces: [text], toolCallId, toolName: name })
    // Without its name it cannot be shown, and what comes before its beginning is missing later.
    else this.#tear()
  }

  #tear(): void {
    this.beginReply(true)
  }

  endReply(content: readonly Block[]): void {
    this.dropReply()
    if (this.#step !== 'own') this.beginStep('own')
    const ids = new Map<string, string>()
    const parts = replyParts(content, this.entries.length, (callId) => {
      const toolCallId = this.#toolCallIdOf(this.#agentId, callId)
      ids.set(toolCallId, callId)
      return toolCallId
    })
    for (const part of parts) {
      const index = this.entries.push(part) - 1
      const callId = part.type === 'dynamic-tool' ? ids.get(part.toolCallId) : undefined
      if (part.type === 'dynamic-tool' && callId !== undefined)
        this.#calls.set(`${this.#agentId} ${callId}`, {
          index,
          toolCallId: part.toolCallId,
          agentId: this.#agentId,
          path: [],
        })
    }
  }

  /** Returns a call's id, unique in the message since clients look calls up by id: a repeated id gets the number of its place. */
  #toolCallIdOf(agentId: string, callId: string): string {
    const own = agentId === this.#agentId ? callId : `${agentId}/${callId}`
    return this.#calls.has(`${agentId} ${callId}`) ? `${own}~${this.#replyAt ?? this.entries.length}` : own
  }

  /** Returns the newest call of an agent with this id. */
  callOf(agentId: string, callId: string): ShownCall | undefined {
    return this.#calls.get(`${agentId} ${callId}`)
  }

  /** A call of an agent below that people are asked about, in a step that holds such calls alone: a client sends answers for the last step. */
  showCall(
    agent: Pick<ShownCall, 'agentId' | 'path'>,
    { callId, name, input }: { readonly callId: string; readonly name: string; readonly input: unknown },
  ): ShownCall {
    if (this.#step !== 'others') this.beginStep('others')
    const { agentId, path } = agent
    const toolCallId = this.#toolCallIdOf(agentId, callId)
    const index =
      this.entries.push({ type: 'dynamic-tool', toolName: name, toolCallId, state: 'input-available', input }) - 1
    const shown = { index, toolCallId, agentId, path }
    this.#calls.set(`${agentId} ${callId}`, shown)
    return shown
  }

  /** Gives a client the arguments of a call that it is to carry out. They may have been withheld before. */
  giveInput(call: ShownCall, input: unknown): void {
    this.#change(call, (part) => ({ ...part, input }))
  }

  isEnded({ index }: ShownCall): boolean {
    return (this.entries[index] as UiToolPart).state.startsWith('output')
  }

  /** Requests approval of a call. `input`: its actual arguments, which may differ from the model's. */
  requestApproval(call: ShownCall, { key: id, input }: { readonly key: string; readonly input: unknown }): void {
    this.#approvals.set(id, call)
    this.#change(call, (part) => ({ ...callIn(part), input, state: 'approval-requested', approval: { id } }))
  }

  decideApproval(id: string, approved: boolean, reason: string | undefined): void {
    const call = this.#approvals.get(id)
    if (call === undefined) return
    const approval = { id, approved, ...(reason === undefined ? {} : { reason }) }
    this.#change(call, (part) => ({ ...callIn(part), state: 'approval-responded', approval }))
  }

  endCall(
    call: ShownCall,
    {
      content,
      isError,
      data,
    }: { readonly content: readonly PlainBlock[]; readonly isError: boolean; readonly data?: unknown },
  ): void {
    this.#change(call, (part) => {
      const approval = 'approval' in part && part.approval !== undefined ? { approval: part.approval } : {}
      const isDenied = approval.approval !== undefined && 'approved' in approval.approval && !approval.approval.approved
      const ended = isDenied
        ? { state: 'output-denied' }
        : isError
          ? { state: 'output-error', errorText: textOfOutput(content) }
          : { state: 'output-available', output: data === undefined ? outputOf(content) : data }
      // An aborted call keeps the approval that nobody decided, as clients do.
      return { ...callIn(part), ...ended, ...approval } as UiToolPart
    })
  }

  /** Ends the open calls of the agents below one that has ended. */
  endBelow(childId: string, why: string): void {
    for (const call of this.#calls.values()) {
      const isBelow = call.agentId === childId || call.path.includes(childId)
      if (isBelow && !this.isEnded(call)) this.endCall(call, { content: [{ type: 'text', text: why }], isError: true })
    }
  }

  #change({ index }: ShownCall, change: (part: UiToolPart) => UiToolPart): void {
    this.entries[index] = change(this.entries[index] as UiToolPart)
  }

  endRun(end: RecordOf<'run.end'>): void {
    this.dropReply()
    this.end = end
    const { usage = noUsage, costUsd = 0 } = this.metadata ?? {}
    this.metadata = {
      stopReason: end.stopReason,
      usage: addUsage(usage, end.usage),
      costUsd: costUsd + end.costUsd,
    }
  }

  /** Error of the exchange's last run, if that failed. */
  get error(): ErrorInfo | undefined {
    return this.end?.error
  }
}

/** Returns the fields that a call has in all its states. */
const callIn = ({ toolName, toolCallId, input, providerExecuted }: UiToolPart) => ({
  type: 'dynamic-tool' as const,
  toolName,
  toolCallId,
  input,
  ...(providerExecuted === undefined ? {} : { providerExecuted }),
})

const textOfOutput = (content: readonly PlainBlock[]): string =>
  content.map((block) => (block.type === 'text' ? block.text : `[${block.type}]`)).join('')

import type { SessionUpdate } from '@agentclientprotocol/sdk'
import type { Tag } from '../../../src/protocol/braking.ts'
import type { AgentEvent, EventOf } from '../../../src/protocol/events.ts'
import { textOf, toolCallsOf, type AssistantMessage } from '../../../src/protocol/messages.ts'
import type { GrowingReply } from '../../../src/protocol/events.ts'
import type { CallShown } from '../../words/src/parts/describing.ts'
import { wordsOf } from '../../words/src/parts/partWords.ts'
import {
  brakeNotes,
  note,
  pruneNote,
  revertNote,
  stallNote,
  textChunk,
  undoNote,
  userUpdates,
} from './sessionUpdates.ts'
import type { KnownCall } from '../../bridge/src/server/callTitle.ts'
import { progressText } from '../../bridge/src/server/progressText.ts'
import { callUpdate, outcomeUpdate, textContent } from './toolCallShape.ts'

/** Maximum output of a running call that is shown, in UTF-16 units. */
const maxProgress = 8_192

interface Printed {
  readonly text: string
  readonly isReport: boolean
}

interface LiveOptions {
  readonly agentId: string
  /** True if the client shows compactions. */
  readonly showsCompactions: boolean
  /** Returns true if the request came over this connection; its client then already has the message. */
  isOwn(requestId: string): boolean
}

type Reader<T extends AgentEvent['type']> = (live: LiveUpdates, event: EventOf<T>) => readonly SessionUpdate[]

/** Returns the id shared by the pieces of one attempt at a reply. Each attempt is a message of its own. */
const replyId = ({ turnIndex }: { readonly turnIndex: number }, attempt: number): string =>
  attempt > 1 ? `t${turnIndex}.${attempt}` : `t${turnIndex}`

/** Converts an agent's events into session updates. Sub-agents contribute only the calls that need approval. */
export class LiveUpdates {
  readonly options: LiveOptions
  /** True if the current run was requested over this connection. */
  isOwnRun = false
  attempt = 1
  /** Length of the reply's text and thinking already sent, in UTF-16 units. */
  readonly sent = { text: 0, thinking: 0 }
  readonly #known = new Set<string>()
  /** Ids of background calls for the client, by the ids that the model knows. */
  readonly background = new Map<string, string>()
  /** Output of running calls so far, and whether it ended with a report. */
  readonly #progress = new Map<string, Printed>()

  constructor(options: LiveOptions) {
    this.options = options
  }

  take(event: AgentEvent): readonly SessionUpdate[] {
    const isOwn = event.agentId === this.options.agentId
    const reader = (isOwn ? own : ofSubAgents)[event.type] as Reader<AgentEvent['type']> | undefined
    const updates = reader?.(this, event) ?? []
    const call = isOwn ? wordsOf(event)?.call?.(event) : undefined
    return call === undefined ? updates : [...updates, ...this.#shown(call)]
  }

  /** Returns the updates for a call that appears in no reply. */
  #shown({ callId: toolCallId, name, input, end }: CallShown): SessionUpdate[] {
    const begun = this.announce({ toolCallId, name, input })
    if (end === undefined) return [...begun, { sessionUpdate: 'tool_call_update', toolCallId, status: 'in_progress' }]
    this.forget(toolCallId)
    const message = { role: 'toolResult', callId: toolCallId, toolName: name, ...end } as const
    return [...begun, outcomeUpdate(toolCallId, message, end.data)]
  }

  /** Returns the updates for the current reply, as if its deltas had been received. */
  catchUp(reply: GrowingReply): SessionUpdate[] {
    this.sent.text = this.sent.thinking = 0
    return this.rest(replyId(reply, this.attempt), reply)
  }

  /** Marks calls as known to the client. */
  know(toolCallIds: Iterable<string>): void {
    for (const id of toolCallIds) this.#known.add(id)
  }

  knows(toolCallId: string): boolean {
    return this.#known.has(toolCallId)
  }

  /** Announces a call, unless the client knows it. */
  announce(call: KnownCall): SessionUpdate[] {
    if (this.#known.has(call.toolCallId)) return []
    this.#known.add(call.toolCallId)
    return [callUpdate(call)]
  }

  forget(toolCallId: string): void {
    this.#known.delete(toolCallId)
    this.#progress.delete(toolCallId)
  }

  isInBackground(toolCallId: string): boolean {
    return [...this.background.values()].includes(toolCallId)
  }

  /** Returns the ends of calls in the background that a revert has ended with their branch. */
  abandoned({ evidence }: Tag): SessionUpdate[] {
    return (evidence.background ?? []).flatMap(({ id, aborted }) => {
      const toolCallId = aborted ? this.background.get(id) : undefined
      if (toolCallId === undefined) return []
      this.background.delete(id)
      this.forget(toolCallId)
      return [{ sessionUpdate: 'tool_call_update', toolCallId, status: 'failed' } as const]
    })
  }

  /** Returns a running call's output so far, or only its end if it is long. Each report starts on a new line. Output pieces are joined. */
  printed(toolCallId: string, { text, isReport }: Printed): string {
    const before = this.#progress.get(toolCallId)
    const isApart = before !== undefined && (isReport || before.isReport) && !before.text.endsWith('\n')
    const all = `${before?.text ?? ''}${isApart ? '\n' : ''}${text}`.slice(-maxProgress).toWellFormed()
    this.#progress.set(toolCallId, { text: all, isReport })
    return all
  }

  /** Returns the unsent rest of a reply's thinking and text. */
  rest(messageId: string, { text, thinking }: { readonly text: string; readonly thinking: string }): SessionUpdate[] {
    return [
      ...this.#piece('agent_thought_chunk', messageId, 'thinking', { text: thinking, offset: 0 }),
      ...this.#piece('agent_message_chunk', messageId, 'text', { text, offset: 0 }),
    ]
  }

  delta(event: EventOf<'reply.delta' | 'thinking.delta'>): SessionUpdate[] {
    const [kind, part] =
      event.type === 'reply.delta'
        ? (['agent_message_chunk', 'text'] as const)
        : (['agent_thought_chunk', 'thinking'] as const)
    return this.#piece(kind, replyId(event, this.attempt), part, event)
  }

  #piece(
    kind: 'agent_message_chunk' | 'agent_thought_chunk',
    messageId: string,
    part: 'text' | 'thinking',
    { text, offset }: { readonly text: string; readonly offset: number },
  ): SessionUpdate[] {
    const piece = text.slice(Math.max(0, this.sent[part] - offset))
    this.sent[part] = Math.max(this.sent[part], offset + text.length)
    return piece === '' ? [] : [textChunk(kind, messageId, piece)]
  }
}

const thinkingOf = ({ content }: AssistantMessage): string =>
  content.map((block) => (block.type === 'thinking' ? block.text : '')).join('')

const notesOfBrakes = Object.fromEntries(
  Object.entries(brakeNotes).map(([type, noteOf]) => [
    type,
    (_: unknown, outcome: Parameters<typeof noteOf>[0] & { readonly applied: boolean }) =>
      outcome.applied ? [noteOf(outcome)] : [],
  ]),
)

const own: { readonly [T in AgentEvent['type']]?: Reader<T> } = {
  'run.start': (live, { requestId }) => {
    live.isOwnRun = live.options.isOwn(requestId)
    return []
  },
  'message.added': (live, { nodeId, message }) =>
    live.isOwnRun && message.source === 'prompt' ? [] : userUpdates(nodeId, message),
  'reply.start': (live, { attempt }) => {
    live.attempt = attempt
    live.sent.text = live.sent.thinking = 0
    return []
  },
  'reply.delta': (live, event) => live.delta(event),
  'thinking.delta': (live, event) => live.delta(event),
  'reply.end': (live, event) => {
    const { message, withheld, turnIndex } = event
    if (withheld !== undefined) {
      const { content: _, ...refusal } = withheld
      const line = note(`withheld-${turnIndex}`, textOf(message.content), { type: 'withheld', ...refusal })
      return [...live.rest(replyId(event, live.attempt), { text: '', thinking: '' }), line]
    }
    const calls = toolCallsOf(message.content)
    return [
      ...live.rest(replyId(event, live.attempt), { text: textOf(message.content), thinking: thinkingOf(message) }),
      ...calls.flatMap(({ callId, name, input }) => live.announce({ toolCallId: callId, name, input })),
    ]
  },
  'reply.reset': (_, { turnIndex, attempt, error, retryAt, repair, next }) => {
    const isOver = retryAt === undefined && repair === undefined && next === undefined
    const what = isOver
      ? 'The reply failed'
      : `The reply broke off and is asked for again${next === undefined ? '' : `, of ${next}`}`
    return [note(`reset-${turnIndex}-${attempt}`, `${what}: ${error.message}`, { type: 'reset', attempt, error })]
  },
  'approval.requested': (live, { callId, name, input }) => live.announce({ toolCallId: callId, name, input }),
  'tool.start': (live, { callId, name, input, childId, background }) => {
    if (background !== undefined) live.background.set(background, callId)
    return [
      ...live.announce({ toolCallId: callId, name, input }),
      {
        sessionUpdate: 'tool_call_update',
        toolCallId: callId,
        status: 'in_progress',
        ...(childId === undefined ? {} : { _meta: { escapement: { childId } } }),
      },
    ]
  },
  'tool.progress': (live, { callId, progress }) => {
    const printed = printedIn(progress)
    if (printed === undefined) return []
    const content = [textContent(live.printed(callId, printed))]
    return [{ sessionUpdate: 'tool_call_update', toolCallId: callId, content }]
  },
  'tool.end': (live, { callId, name, message, data }) => {
    // With its receipt it stays in progress until it has reported.
    if (!message.isError && live.isInBackground(callId))
      return [
        { sessionUpdate: 'tool_call_update', toolCallId: callId, content: [textContent(textOf(message.content))] },
      ]
    const updates = [
      ...live.announce({ toolCallId: callId, name, input: undefined }),
      outcomeUpdate(callId, message, data),
    ]
    live.forget(callId)
    return updates
  },
  'call.reported': (live, { id, callId, data, ...result }) => {
    live.background.delete(id)
    live.forget(callId)
    return [outcomeUpdate(callId, result, data)]
  },
  'revert.applied': (live, { applied, target, tag, category }) =>
    applied && target !== undefined && tag !== undefined
      ? [...live.abandoned(tag), revertNote(target, tag, category)]
      : [],
  ...notesOfBrakes,
  'mode.changed': (_, { mode }) => [{ sessionUpdate: 'current_mode_update', currentModeId: mode }],
  'undo.end': (_, event) => [undoNote(event.id, event)],
  'prune.applied': (_, outcome) => (outcome.applied ? [pruneNote(outcome)] : []),
  'stall.detected': (_, outcome) => [stallNote(outcome)],
  'compaction.start': ({ options }, event) => (options.showsCompactions ? [compactionUpdate(event)] : []),
  'compaction.end': ({ options }, event) => (options.showsCompactions ? [compactionUpdate(event)] : []),
}

const ofSubAgents: { readonly [T in AgentEvent['type']]?: Reader<T> } = {
  'approval.requested': (live, { agentId, key, name, input }) =>
    live.announce({ toolCallId: key, name, input, agentId }),
  'tool.start': (live, { key }) =>
    live.knows(key) ? [{ sessionUpdate: 'tool_call_update', toolCallId: key, status: 'in_progress' }] : [],
  'tool.end': (live, { key, message, data }) => {
    if (!live.knows(key)) return []
    live.forget(key)
    return [outcomeUpdate(key, message, data)]
  },
}

/** Returns a piece of a running call's progress: a report, or a piece of the output of `run_command`. */
function printedIn(progress: unknown): Printed | undefined {
  const output = typeof progress === 'object' && progress !== null && 'output' in progress ? progress.output : undefined
  if (typeof output === 'string') return { text: output, isReport: false }
  const text = progressText(progress)
  return text === undefined ? undefined : { text, isReport: true }
}

/** Returns the update for a compaction's beginning or end. An agent has one at a time, so its turn names it, or the request that it answers. */
function compactionUpdate(event: EventOf<'compaction.start' | 'compaction.end'>): SessionUpdate {
  const { runId, turnIndex, requestId = `${runId}/t${turnIndex}` } = event
  const named = { sessionUpdate: 'compaction_update', compactionId: requestId } as const
  if (event.type === 'compaction.start') return { ...named, status: 'in_progress' }
  const { applied, reason, overlay } = event
  if (!applied) return { ...named, status: 'failed', error: reason ?? 'The conversation was left as it is.' }
  const summary = overlay === undefined ? {} : { summary: [{ type: 'text', text: overlay.summary } as const] }
  return { ...named, status: 'completed', ...summary }
}

import { EventType } from '@ag-ui/core'
import { toolCallIdOf, replyMessageId, thinkingMessageId } from './ids.ts'
import { piecesOf } from '../../bridge/src/streams/piecesOf.ts'
import { openText, ownerOf, type EventWriter, type Piece } from './writeAgUiEvents.ts'

/** A reply under way, with its content so far. */
export interface PartialReply {
  readonly turnIndex: number
  readonly attempt: number
  text: string
  thinking: string
  /** Arguments of the reply's calls as text, by call. */
  readonly calls: Map<string, { name?: string; text: string }>
}

/** Position up to which one client was sent a reply. */
interface Position {
  readonly reply: string
  text: number
  thinking: number
  readonly calls: Map<string, number>
}

/** Returns the text after `from`. Usually that is the newest piece, which avoids flattening the long text. */
const restOf = (text: string, from: number, newest: Piece | undefined): string =>
  newest !== undefined && from + newest.text.length === text.length ? newest.text : text.slice(from)

/** One client's position in the replies under way. Everything after it is sent in as few events as possible. */
export class ReplyCursor {
  readonly #writer: EventWriter
  readonly #positions = new Map<string, Position>()

  constructor(writer: EventWriter) {
    this.#writer = writer
  }

  /**
   * Writes the new content in pieces while the client takes them; returns `false` if there is more. A client that paused gets as few pieces
   * as possible.
   */
  pull(agentId: string, partial: PartialReply, newest?: Piece): boolean {
    const sent = this.#positionIn(agentId, partial)
    const at = { agentId, turnIndex: partial.turnIndex }
    const who = ownerOf(this.#writer.rootId, agentId)
    if (partial.thinking.length > sent.thinking) {
      const messageId = this.#openThinking(at, partial.attempt)
      const rest = restOf(partial.thinking, sent.thinking, newest?.type === 'thinking.delta' ? newest : undefined)
      for (const delta of piecesOf(rest)) {
        sent.thinking += delta.length
        this.#writer.write({ type: EventType.REASONING_MESSAGE_CONTENT, messageId, delta, ...who })
        if (this.#writer.isFull && sent.thinking < partial.thinking.length) return false
      }
    }
    if (partial.text.length > sent.text) {
      this.#writer.parts.closeAll(`${agentId} reply thinking`)
      const messageId = openText(this.#writer, at)
      const rest = restOf(partial.text, sent.text, newest?.type === 'reply.delta' ? newest : undefined)
      for (const delta of piecesOf(rest)) {
        sent.text += delta.length
        this.#writer.write({ type: EventType.TEXT_MESSAGE_CONTENT, messageId, delta, ...who })
        if (this.#writer.isFull && sent.text < partial.text.length) return false
      }
    }
    for (const [callId, { name, text }] of partial.calls) {
      const from = sent.calls.get(callId) ?? 0
      // It cannot start without a name; the whole call is written when the reply is complete.
      if (name === undefined || (sent.calls.has(callId) && from >= text.length)) continue
      this.#writer.parts.closeAll(`${agentId} reply thinking`)
      const toolCallId = this.#openCall(at, callId, name)
      sent.calls.set(callId, text.length)
      const rest = restOf(text, from, newest?.type === 'toolCall.delta' ? newest : undefined)
      if (rest !== '') this.#writer.write({ type: EventType.TOOL_CALL_ARGS, toolCallId, delta: rest, ...who })
    }
    return true
  }

  /** Marks text and thinking as sent, because the client has them from a snapshot; calls are sent again. */
  skip(agentId: string, partial: PartialReply): void {
    const sent = this.#positionIn(agentId, partial)
    sent.text = partial.text.length
    sent.thinking = partial.thinking.length
    sent.calls.clear()
  }

  /** Marks nothing as sent, so that everything is sent again. */
  reset(): void {
    this.#positions.clear()
  }

  #positionIn(agentId: string, { turnIndex, attempt }: PartialReply): Position {
    const reply = `${turnIndex}/${attempt}`
    const known = this.#positions.get(agentId)
    if (known?.reply === reply) return known
    const fresh = { reply, text: 0, thinking: 0, calls: new Map<string, number>() }
    this.#positions.set(agentId, fresh)
    return fresh
  }

  #openThinking({ agentId, turnIndex }: { agentId: string; turnIndex: number }, attempt: number): string {
    const { parts, rootId } = this.#writer
    const messageId = thinkingMessageId(replyMessageId(agentId, turnIndex), attempt)
    const who = ownerOf(rootId, agentId)
    parts.open(
      `${agentId} reply thinking`,
      { type: EventType.REASONING_START, messageId, ...who },
      { type: EventType.REASONING_END, messageId, ...who },
    )
    parts.open(
      `${agentId} reply thinking message`,
      { type: EventType.REASONING_MESSAGE_START, messageId, role: 'reasoning', ...who },
      { type: EventType.REASONING_MESSAGE_END, messageId, ...who },
    )
    return messageId
  }

  #openCall({ agentId, turnIndex }: { agentId: string; turnIndex: number }, callId: string, name: string): string {
    const { parts, rootId } = this.#writer
    const toolCallId = toolCallIdOf(rootId, agentId, callId)
    const who = ownerOf(rootId, agentId)
    const parentMessageId = replyMessageId(agentId, turnIndex)
    parts.open(
      `${agentId} reply call ${callId}`,
      { type: EventType.TOOL_CALL_START, toolCallId, toolCallName: name, parentMessageId, ...who },
      { type: EventType.TOOL_CALL_END, toolCallId, ...who },
    )
    return toolCallId
  }
}

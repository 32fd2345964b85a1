import { EventType } from '@ag-ui/core'
import { callName, replyName, thinkingName } from './names.ts'
import type { Growing } from './thread.ts'
import { piecesOf } from './eventText.ts'
import { openText, ownerOf, type Page, type Piece } from './translate.ts'

/** How much of a reply under way one client was told. */
interface Told {
  readonly reply: string
  text: number
  thinking: number
  readonly calls: Map<string, number>
}

/** What is after `from`. Most often it is the newest piece, and the long text need not be put together for it. */
const restOf = (text: string, from: number, newest: Piece | undefined): string =>
  newest !== undefined && from + newest.text.length === text.length ? newest.text : text.slice(from)

/** Where one client is in the replies under way: what it is told next is everything after that, in as few events as can be. */
export class GrowingCursor {
  readonly #page: Page
  readonly #told = new Map<string, Told>()

  constructor(page: Page) {
    this.#page = page
  }

  /**
   * Writes what has come since, in pieces while the client takes them; `false`: there is more. A client that paused gets no more
   * pieces than it need.
   */
  pull(agentId: string, growing: Growing, newest?: Piece): boolean {
    const told = this.#toldOf(agentId, growing)
    const at = { agentId, turnIndex: growing.turnIndex }
    const who = ownerOf(this.#page.rootId, agentId)
    if (growing.thinking.length > told.thinking) {
      const messageId = this.#openThinking(at, growing.attempt)
      const rest = restOf(growing.thinking, told.thinking, newest?.type === 'thinking.delta' ? newest : undefined)
      for (const delta of piecesOf(rest)) {
        told.thinking += delta.length
        this.#page.write({ type: EventType.REASONING_MESSAGE_CONTENT, messageId, delta, ...who })
        if (this.#page.isFull && told.thinking < growing.thinking.length) return false
      }
    }
    if (growing.text.length > told.text) {
      this.#page.parts.closeAll(`${agentId} reply thinking`)
      const messageId = openText(this.#page, at)
      const rest = restOf(growing.text, told.text, newest?.type === 'reply.delta' ? newest : undefined)
      for (const delta of piecesOf(rest)) {
        told.text += delta.length
        this.#page.write({ type: EventType.TEXT_MESSAGE_CONTENT, messageId, delta, ...who })
        if (this.#page.isFull && told.text < growing.text.length) return false
      }
    }
    for (const [callId, { name, text }] of growing.calls) {
      const from = told.calls.get(callId) ?? 0
      // Without a name it cannot begin; the whole call is told once the reply is in.
      if (name === undefined || (told.calls.has(callId) && from >= text.length)) continue
      this.#page.parts.closeAll(`${agentId} reply thinking`)
      const toolCallId = this.#openCall(at, callId, name)
      told.calls.set(callId, text.length)
      const rest = restOf(text, from, newest?.type === 'toolCall.delta' ? newest : undefined)
      if (rest !== '') this.#page.write({ type: EventType.TOOL_CALL_ARGS, toolCallId, delta: rest, ...who })
    }
    return true
  }

  /** The client has text and thoughts from a snapshot; calls are begun anew. */
  skip(agentId: string, growing: Growing): void {
    const told = this.#toldOf(agentId, growing)
    told.text = growing.text.length
    told.thinking = growing.thinking.length
    told.calls.clear()
  }

  /** Everything is to be told again. */
  reset(): void {
    this.#told.clear()
  }

  #toldOf(agentId: string, { turnIndex, attempt }: Growing): Told {
    const reply = `${turnIndex}/${attempt}`
    const known = this.#told.get(agentId)
    if (known?.reply === reply) return known
    const fresh = { reply, text: 0, thinking: 0, calls: new Map<string, number>() }
    this.#told.set(agentId, fresh)
    return fresh
  }

  #openThinking({ agentId, turnIndex }: { agentId: string; turnIndex: number }, attempt: number): string {
    const { parts, rootId } = this.#page
    const messageId = thinkingName(replyName(agentId, turnIndex), attempt)
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
    const { parts, rootId } = this.#page
    const toolCallId = callName(rootId, agentId, callId)
    const who = ownerOf(rootId, agentId)
    const parentMessageId = replyName(agentId, turnIndex)
    parts.open(
      `${agentId} reply call ${callId}`,
      { type: EventType.TOOL_CALL_START, toolCallId, toolCallName: name, parentMessageId, ...who },
      { type: EventType.TOOL_CALL_END, toolCallId, ...who },
    )
    return toolCallId
  }
}

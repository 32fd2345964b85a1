import type { RequestPermissionRequest, SessionUpdate } from '@agentclientprotocol/sdk'

type ToolCall = RequestPermissionRequest['toolCall']
type AllowedKind = 'edit' | 'execute' | 'any'

/** Most calls that are remembered. */
const mostCalls = 1_000

/** The calls of a session: what was told of each before, and which of them people have allowed. */
export class SessionCalls {
  readonly #known = new Map<string, ToolCall>()
  readonly #allowed = new Map<string, AllowedKind>()
  #refused: string | undefined

  /** The title of the call that was not permitted, if the agent has said nothing since: some end their turn then. */
  get refused(): string | undefined {
    return this.#refused
  }

  take(update: SessionUpdate): void {
    if (update.sessionUpdate === 'agent_message_chunk') this.#refused = undefined
    if (update.sessionUpdate !== 'tool_call' && update.sessionUpdate !== 'tool_call_update') return
    const { toolCallId, status } = update
    if (status === 'completed' || status === 'failed') {
      this.#known.delete(toolCallId)
      this.#allowed.delete(toolCallId)
      return
    }
    this.#known.set(toolCallId, this.whole(update))
    if (this.#known.size > mostCalls) this.#known.delete(this.#known.keys().next().value!)
  }

  /** A call with what was told of it before: an agent may name only what has changed, and rules are about its kind. */
  whole(call: ToolCall): ToolCall {
    const told = Object.fromEntries(Object.entries(call).filter(([, value]) => value != null))
    return { ...this.#known.get(call.toolCallId), ...told, toolCallId: call.toolCallId }
  }

  /** Notes that people have allowed a call, until it has ended. */
  allow({ toolCallId, kind }: ToolCall): void {
    const allowed = allowedBy[kind ?? 'other']
    if (allowed !== undefined) this.#allowed.set(toolCallId, allowed)
  }

  refuse({ toolCallId, title }: ToolCall): void {
    this.#refused = title ?? toolCallId
  }

  /** Returns true while a call that was allowed is about such a thing. */
  covers(wanted: 'edit' | 'execute'): boolean {
    return [...this.#allowed.values()].some((kind) => kind === 'any' || kind === wanted)
  }
}

/** The deeds in the workspace that a call of a kind may do once it was allowed, without being asked about again. */
const allowedBy: { readonly [kind: string]: AllowedKind | undefined } = {
  edit: 'edit',
  delete: 'edit',
  move: 'edit',
  execute: 'execute',
  other: 'any',
}

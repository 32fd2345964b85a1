import type { RequestPermissionRequest, SessionUpdate } from '@agentclientprotocol/sdk'

type ToolCall = RequestPermissionRequest['toolCall']
type AllowedKind = 'edit' | 'execute' | 'any'

interface Allowed {
  readonly reach: AllowedKind
  readonly title: string
  /** Set once the workspace has done something for it. */
  isUsed: boolean
}

/** Maximum number of calls that are remembered. */
const mostCalls = 1_000

/** The calls of a session: what was told of each before, and which of them people have allowed. */
export class SessionCalls {
  readonly #known = new Map<string, ToolCall>()
  readonly #allowed = new Map<string, Allowed>()
  readonly #byItself: (title: string) => void
  #refused: string | undefined

  /** `byItself` is told of each call that was allowed and is not, or was not, carried out by the workspace. */
  constructor(byItself: (title: string) => void) {
    this.#byItself = byItself
  }

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
      return this.#settle(toolCallId)
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
  allow({ toolCallId, title, kind }: ToolCall): void {
    const reach = allowedBy[kind ?? 'other']
    if (reach !== undefined) this.#allowed.set(toolCallId, { reach, title: title ?? toolCallId, isUsed: false })
  }

  refuse({ toolCallId, title }: ToolCall): void {
    this.#refused = title ?? toolCallId
  }

  /** Returns true while a call that was allowed is about such a thing, which the workspace then carries out. */
  covers(wanted: 'edit' | 'execute'): boolean {
    const found = [...this.#allowed.values()].find(({ reach }) => reach === 'any' || reach === wanted)
    if (found !== undefined) found.isUsed = true
    return found !== undefined
  }

  /** Settles all calls, once the agent does no more. */
  close(): void {
    for (const id of this.#allowed.keys()) this.#settle(id)
  }

  #settle(id: string): void {
    const allowed = this.#allowed.get(id)
    this.#allowed.delete(id)
    if (allowed?.isUsed === false) this.#byItself(allowed.title)
  }
}

/** By kind, how far a call that was allowed reaches in the workspace without being asked about again. */
const allowedBy: { readonly [kind: string]: AllowedKind | undefined } = {
  edit: 'edit',
  delete: 'edit',
  move: 'edit',
  execute: 'execute',
  other: 'any',
}

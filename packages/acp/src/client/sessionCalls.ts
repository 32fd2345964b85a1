import type { RequestPermissionRequest, SessionUpdate } from '@agentclientprotocol/sdk'

type ToolCall = RequestPermissionRequest['toolCall']
type AllowedKind = 'edit' | 'execute' | 'any'

interface Allowed {
  readonly reach: AllowedKind
  readonly title: string
  /** True once the workspace has done something for the call. */
  isUsed: boolean
}

/** Maximum number of remembered calls. */
const mostCalls = 1_000

/** The calls of a session: their earlier updates, and which of them people have allowed. */
export class SessionCalls {
  readonly #known = new Map<string, ToolCall>()
  readonly #allowed = new Map<string, Allowed>()
  readonly #byItself: (title: string) => void
  #refused: string | undefined

  /** `byItself` receives the title of each allowed call that the workspace does not carry out. */
  constructor(byItself: (title: string) => void) {
    this.#byItself = byItself
  }

  /** Title of the refused call, if the agent has said nothing since. Some agents then end their turn. */
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

  /** Returns a call merged with its earlier updates: an agent may send only changes, and rules need the kind. */
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

  /** True while an allowed call covers such an action, which the workspace then carries out. */
  covers(wanted: 'edit' | 'execute'): boolean {
    const found = [...this.#allowed.values()].find(({ reach }) => reach === 'any' || reach === wanted)
    if (found !== undefined) found.isUsed = true
    return found !== undefined
  }

  /** Settles all calls once the agent is done. */
  close(): void {
    for (const id of this.#allowed.keys()) this.#settle(id)
  }

  #settle(id: string): void {
    const allowed = this.#allowed.get(id)
    this.#allowed.delete(id)
    if (allowed?.isUsed === false) this.#byItself(allowed.title)
  }
}

/** Workspace actions that an allowed call covers without asking again, by the call's kind. */
const allowedBy: { readonly [kind: string]: AllowedKind | undefined } = {
  edit: 'edit',
  delete: 'edit',
  move: 'edit',
  execute: 'execute',
  other: 'any',
}

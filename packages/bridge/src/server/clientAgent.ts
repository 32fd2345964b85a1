import type { AgentEvent } from '../../../../src/protocol/events.ts'
import type { Right } from '../../../wire/src/rights.ts'
import { beyondWords, moreThanWords, nameOf, rightsFor } from './commandRights.ts'
import type { DrivenAgent } from './drivenAgent.ts'
import type { RunResult } from '../../../../src/protocol/runs/runResult.ts'
import {
  viewBelow,
  viewOf,
  visibleConversation,
  visibleEnd,
  visibleEvent,
  visiblePending,
  visibleReason,
  visibleReply,
} from './visible.ts'

/** The rights of a client. */
interface Allowed {
  readonly rights: ReadonlySet<Right>
  /** Checks a right. @throws RuntimeError `BRIDGE_FORBIDDEN` */
  must(needs: Right | readonly Right[], what: string): void
  /** Checks the right to decide. @throws RuntimeError `BRIDGE_FORBIDDEN` */
  mustDecide(
    decision: { readonly callId: string; readonly decision: string },
    agent: Pick<DrivenAgent, 'pending'>,
  ): void
}

/** Agents as clients get them: the same object for all clients with the same rights. */
export class GivenAgents {
  readonly #given = new WeakMap<DrivenAgent, Map<string, DrivenAgent>>()

  of(agent: DrivenAgent, access: Allowed): DrivenAgent {
    const all = this.#given.get(agent) ?? new Map<string, DrivenAgent>()
    this.#given.set(agent, all)
    const key = [...access.rights].toSorted().join()
    const given = all.get(key) ?? clientAgent(agent, access)
    all.set(key, given)
    return given
  }
}

/** Members of an agent that differ for a client: those that show data, and those that act. */
type Guarded = Pick<
  DrivenAgent,
  | 'appState'
  | 'conversation'
  | 'growingReply'
  | 'pause'
  | 'pending'
  | 'approvals'
  | 'permissions'
  | 'subscribe'
  | 'events'
  | 'dispatch'
  | 'decide'
  | 'revert'
  | 'abort'
  | 'close'
>

/**
 * An agent for a client of any protocol, limited to the client's rights. Otherwise it behaves like the agent that it wraps. Its methods also throw
 * `BRIDGE_FORBIDDEN`.
 */
function clientAgent(agent: DrivenAgent, access: Allowed): DrivenAgent {
  const view = viewOf(access.rights)
  const shown = (event: AgentEvent): AgentEvent | undefined =>
    event.agentId === agent.id ? visibleEvent(event, view, agent.clientTools) : visibleEvent(event, viewBelow(view))
  // No generator: that could not be left while it waits for an event.
  const shownOf = (events: AsyncIterableIterator<AgentEvent>): AsyncIterableIterator<AgentEvent> => ({
    async next() {
      for (;;) {
        const next = await events.next()
        const value = next.done === true ? undefined : shown(next.value)
        if (next.done === true) return next
        if (value !== undefined) return { value }
      }
    },
    return: async () => (await events.return?.()) ?? { done: true, value: undefined },
    [Symbol.asyncIterator]() {
      return this
    },
  })
  const guarded: Guarded = {
    get conversation() {
      return visibleConversation(agent.conversation, view, agent.clientTools)
    },
    get appState() {
      return view === 'all' ? agent.appState : undefined
    },
    get pause() {
      return agent.pause === null || view === 'all' ? agent.pause : visibleReason(agent.pause)
    },
    get growingReply() {
      return visibleReply(agent.growingReply, view)
    },
    pending: () => agent.pending().map((one) => visiblePending(one, view)),
    approvals: () => agent.approvals().map((one) => visiblePending(one, view)),
    permissions: () => (view === 'all' ? (agent.permissions?.() ?? null) : null),
    subscribe: (listener, options) =>
      agent.subscribe((event) => {
        const visible = shown(event)
        return visible === undefined ? undefined : listener(visible)
      }, options),
    events: () => shownOf(agent.events()),
    dispatch(command, options) {
      if (command.type === 'agent.decide') access.mustDecide(command, agent)
      else access.must(rightsFor[command.type], command.type)
      const more = beyondWords(command)
      if (more !== undefined) access.must(more, moreThanWords(command.type))
      const run = agent.dispatch(command, options)
      if (run === undefined || view === 'all') return run
      const result = run.result.then((ended): RunResult => visibleEnd(ended, view))
      result.catch(() => {})
      return { requestId: run.requestId, result }
    },
    decide(callId, decision, options) {
      access.mustDecide({ callId, decision: nameOf(decision) }, agent)
      const more = typeof options === 'object' ? beyondWords(options) : undefined
      if (more !== undefined) access.must(more, moreThanWords('agent.decide'))
      return agent.decide(callId, decision, options)
    },
    revert(step, options) {
      access.must('control', 'agent.revert')
      return agent.revert(step, options)
    },
    abort() {
      access.must('talk', 'agent.abort')
      return agent.abort()
    },
    close() {
      access.must('control', 'agent.close')
      return agent.close()
    },
  }
  return new Proxy(agent, {
    get(target, name) {
      if (Object.hasOwn(guarded, name)) return Reflect.get(guarded, name) as unknown
      const value = Reflect.get(target, name) as unknown
      return typeof value === 'function' ? (value.bind(target) as unknown) : value
    },
  })
}

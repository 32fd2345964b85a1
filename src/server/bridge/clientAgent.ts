import type { AgentEvent } from '../../protocol/events.ts'
import type { AgentAccess } from './agentAccess.ts'
import { beyondWords, rightsFor } from './commandRights.ts'
import type { DrivenAgent } from './drivenAgent.ts'
import { viewOf, visibleConversation, visibleEvent, visiblePending, visibleReply, type View } from './visible.ts'

/** What of an agent is another thing to a client: what it is shown, and what it may do. */
type Guarded = Pick<
  DrivenAgent,
  | 'conversation'
  | 'growingReply'
  | 'pending'
  | 'approvals'
  | 'subscribe'
  | 'events'
  | 'dispatch'
  | 'decide'
  | 'revert'
  | 'abort'
  | 'close'
>

async function* shown(events: AsyncIterableIterator<AgentEvent>, view: View): AsyncGenerator<AgentEvent, void, void> {
  for await (const event of events) {
    const visible = visibleEvent(event, view)
    if (visible !== undefined) yield visible
  }
}

/**
 * An agent in the hands of a client of any protocol: it shows what the client may see, and does what it may do. Another agent than the
 * one it is made of only in that.
 *
 * Its methods throw `BRIDGE_FORBIDDEN` besides what those of the agent throw.
 */
export function clientAgent(agent: DrivenAgent, access: AgentAccess): DrivenAgent {
  const view = viewOf(access.rights)
  const guarded: Guarded = {
    get conversation() {
      return visibleConversation(agent.conversation, view)
    },
    get growingReply() {
      return visibleReply(agent.growingReply, view)
    },
    pending: () => agent.pending().map((one) => visiblePending(one, view)),
    approvals: () => agent.approvals().map((one) => visiblePending(one, view)),
    subscribe: (listener, options) =>
      agent.subscribe((event) => {
        const visible = visibleEvent(event, view)
        return visible === undefined ? undefined : listener(visible)
      }, options),
    events: () => shown(agent.events(), view),
    dispatch(command, options) {
      access.must(rightsFor[command.type], command.type)
      const more = beyondWords(command)
      if (more !== undefined) access.must(more, command.type)
      if (command.type === 'agent.decide') access.mustDecide(command, agent)
      return agent.dispatch(command, options)
    },
    decide(callId, decision, options) {
      const name = typeof decision === 'string' ? decision : 'answer'
      access.mustDecide({ callId, decision: name }, agent)
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

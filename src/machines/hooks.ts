import type { AgentContext, CallState } from './agentTypes.ts'
import type { Draft } from './draft.ts'

export const hookSlot = (index: number): string => `hook.${index}`

/** Returns the key of the `beforeTool` check of a call, which is the same after a crash. */
export const hookKey = (callKey: string): string => `${callKey}/before`

/** Returns true if calls are checked before they start, by `beforeTool` or by rules of the agent or of an agent above it. */
export const isChecking = ({ policy: { flags }, isGoverned }: Pick<AgentContext, 'policy' | 'isGoverned'>): boolean =>
  flags.beforeTool === true || flags.permissions === true || isGoverned === true

/** Returns true if a call has yet to be checked. */
export const isUnchecked = (context: AgentContext, { beforeTool, rule, decision }: CallState): boolean =>
  isChecking(context) &&
  beforeTool === undefined &&
  rule === undefined &&
  // Before there were rules, a person could approve it.
  (decision === undefined || context.policy.flags.beforeTool === true)

/** Starts the check of a call that is about to start. */
export function askHook(draft: Draft, index: number): void {
  const { callId, key, name, input } = draft.callAt(index)
  draft.setCall(index, { status: 'checking' })
  draft.children.push({
    type: 'start',
    src: 'askHook',
    id: hookSlot(index),
    input: { agentId: draft.context.agentId, ...draft.at, key: hookKey(key), callKey: key, callId, name, input },
  })
}

/** Returns the marks that tell in a call's records where its arguments came from. */
export const marksOf = ({
  beforeTool,
  rule,
  edited,
}: CallState): { beforeTool?: true; rule?: string; edited?: true } => ({
  ...(rule === undefined ? {} : { rule }),
  ...(beforeTool === undefined ? {} : { beforeTool }),
  ...(edited === undefined ? {} : { edited: true }),
})

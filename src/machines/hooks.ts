import type { AgentContext, CallState } from './agentTypes.ts'
import type { Draft } from './draft.ts'

export const hookSlot = (index: number): string => `hook.${index}`

/** Key of the question to `beforeTool`: the same after a crash. */
export const hookKey = (callKey: string): string => `${callKey}/before`

/** Returns true if `beforeTool` has not been asked about the call; never without that hook. */
export const isUnchecked = ({ policy }: AgentContext, { beforeTool }: CallState): boolean =>
  policy.flags.beforeTool === true && beforeTool === undefined

/** Asks `beforeTool` about a call that would start now. */
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

/** Returns the marks that tell, in the records of a call, where its arguments came from. */
export const marksOf = ({ beforeTool, edited }: CallState): { beforeTool?: true; edited?: true } => ({
  ...(beforeTool === undefined ? {} : { beforeTool }),
  ...(edited === undefined ? {} : { edited: true }),
})

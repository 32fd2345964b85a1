import { errorInfo } from '../protocol/errors.ts'
import type { CallState } from './agentTypes.ts'
import { endCall, refuseCall } from './callEnds.ts'
import { advanceCalls, holdCall } from './calls.ts'
import type { Draft } from './draft.ts'
import type { CallVerdict, HookOutput } from './effectTypes.ts'
import { hookKey, hookSlot } from './hooks.ts'

/** Carries out the decision of `beforeTool` about a call, if it is still awaited. */
export function settleHook(draft: Draft, output: HookOutput | null): void {
  if (output === null) return
  const index = draft.context.calls.findIndex(({ status, key }) => status === 'checking' && hookKey(key) === output.key)
  if (index < 0) return
  if (isOutdated(draft, output)) draft.setCall(index, { status: 'ready' })
  else if (output.notStarted === undefined) applyVerdict(draft, index, output.verdict)
  else {
    draft.setCall(index, { status: 'ready' })
    draft.set({ storeError: output.notStarted })
  }
  draft.set({ contextTokens: draft.context.contextTokens + output.tokens })
  advanceCalls(draft)
}

/** True if the permission rules or the mode have changed since the verdict was reached. */
const isOutdated = ({ context }: Draft, { verdict }: HookOutput): boolean =>
  'judgedAt' in verdict && verdict.judgedAt !== (context.parts.permissions?.seq ?? 0)

/** Ends a call whose `beforeTool` check broke down. The call is not run. */
export function failHook(draft: Draft, slot: string, message: string): void {
  const index = draft.context.calls.findIndex(({ status }, i) => status === 'checking' && hookSlot(i) === slot)
  if (index < 0) return
  applyVerdict(draft, index, { type: 'failed', error: errorInfo('HOOK_FAILED', `beforeTool failed: ${message}.`) })
  advanceCalls(draft)
}

function applyVerdict(draft: Draft, index: number, verdict: CallVerdict): void {
  switch (verdict.type) {
    case 'allowed':
    case 'edited': {
      const { rule, suggest } = verdict
      const edit = verdict.type === 'edited' ? ({ input: verdict.input, edited: 'hook' } as const) : {}
      draft.setCall(index, { ...edit, ...checkedBy(draft, rule), status: 'ready' })
      if (verdict.needsApproval) holdCall(draft, index, suggest)
      return
    }
    case 'refused':
    case 'mistaken':
      return refuseCall(draft, index, verdict.text)
    case 'denied':
      return refuseCall(draft, index, `Denied by the application: it was not run. Reason: ${verdict.reason}`, {
        hook: 'denied',
      })
    case 'failed':
      return refuseCall(draft, index, `Not run: it could not be checked. ${verdict.error.message}`, {
        hook: 'unchecked',
      })
    case 'answered':
      return endCall(draft, index, {
        content: verdict.content,
        isError: false,
        synthetic: 'answered',
        hook: 'answered',
      })
  }
}

/** Returns the marks of a call that was let through. */
const checkedBy = ({ context }: Draft, rule: string | undefined): Pick<CallState, 'beforeTool' | 'rule'> => ({
  ...(context.policy.flags.beforeTool === true ? { beforeTool: true } : {}),
  ...(rule === undefined ? {} : { rule }),
})

import { useMemo } from 'react'
import type { ChatPending } from '../../bridge/src/client/fold/chat.ts'
import type { DecideOptions, Decision } from '../../../src/protocol/bridge/commands.ts'
import { useStores } from './agentProvider.ts'
import { useAgentView } from './useAgent.ts'

/** Items that wait for people, and functions that answer them. */
export interface UsedApprovals {
  /** Pending items, oldest first, distinguished by `kind`: calls to approve, questions to answer, and calls for a client to carry out. */
  readonly pending: readonly ChatPending[]
  /**
   * Decides an item by its `key`, as `agent.decide` does: `'approve'`, `'deny'` with a reason, `{ value }` for a question, `{ result }` or
   * `{ error }` for a call of a client. Rejects with `CALL_NOT_PENDING` (another person was faster), `ANSWER_INVALID`, `BRIDGE_FORBIDDEN`;
   * you need not catch that.
   */
  readonly decide: (key: string, decision: Decision, how?: string | DecideOptions) => Promise<void>
  /** Answers a question by its `key`. As `decide`. */
  readonly answer: (key: string, value: unknown) => Promise<void>
}

/**
 * Returns the items that wait for people, of an agent and of those below it. The component is drawn anew when they change.
 *
 * @throws RuntimeError `PROVIDER_MISSING`
 *
 * @example
 * ```ts no-run
 * import { createElement } from 'react'
 * import { useApprovals } from 'escapement/react'
 *
 * function Approvals({ id }: { id: string }) {
 *   const { pending, decide } = useApprovals(id)
 *   const allow = (key: string) => createElement('button', { onClick: () => decide(key, 'approve') }, 'Allow')
 *   return pending.map(({ key, name }) => createElement('p', { key }, name, allow(key)))
 * }
 * ```
 */
export function useApprovals(id: string): UsedApprovals {
  const { decide } = useStores('useApprovals').agent(id).commands
  const pending = useAgentView('useApprovals', id, (view) => view.chat.pending)
  return useMemo(
    () => Object.freeze({ pending, decide, answer: (key: string, value: unknown) => decide(key, { value }) }),
    [pending, decide],
  )
}
